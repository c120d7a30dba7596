// A job: the worker's conversation with the cloud platform for one customer of one cloud account (spec 3.2).
// It consists of steps. Each step takes in the platform's answer to the last call and returns the next call,
// until none is left. job_step.h makes the steps, job_runner.h the calls.
//
// Rules, each with its reason:
//  1. One job at a time runs for a customer. It works on their open deliveries, at most kMostDeliveriesOfJob,
//     those whose next attempt comes first before the others. So two orders of one buyer make one friend
//     request and share a file once (spec 3.2), and a job is bounded (spec 8.6).
//  2. A step runs in one transaction: it takes the answer in, reads all rows again, and commits the intent of
//     the next call before the call is made. So a crash between any two steps loses nothing and repeats
//     nothing: the job that takes over starts from the intent (spec 3.9).
//  3. A step changes nothing unless the customer has the fence of the job's lease: after a take-over another
//     job is at work. If the refused answer had an effect, a settlement finds it (spec 3.4).
//  4. Each answer renews the lease, and a call starts only if the lease outlasts its timeout: else two jobs
//     could call for one customer at once (spec 3.4).
//  5. A delivery's pending action is obeyed before each call, so that no file is shared for a delivery that
//     the merchant or the store has ended meanwhile. A share that was begun is settled first, once it may be
//     looked up (spec 3.3).
//  6. The order of calls: unknown shares are looked up first, since until then nobody knows what is owed;
//     then files are shared where the friendship stands, since buyers wait for them; then files are taken
//     back and requests withdrawn, since one that keeps failing must hold up no order; then the name is
//     resolved and the friendship made (spec 3.2, 3.4).
//  7. The step before a share commits the item as `sharing`, the hold of a credit and the idempotency key.
//     While the share's outcome is unknown, all three stay until the call can have no effect any more; then a
//     look-up decides. So a file is shared once and paid once (spec 3.9, 11.1).
//  8. No friend request is sent for a delivery that cannot be paid: the buyer would accept and get nothing
//     (spec 3.6).
//  9. A request that may stand is not repeated: the friendship is looked up before. Only a merchant's retry
//     makes a new one, and an old request that still stands is withdrawn first (spec 3.5).
// 10. A job looks up a friendship at most kMaxFriendshipChecks times: a platform that contradicts itself
//     makes the job fail and be retried later, and does not occupy a slot for ever.
// 11. The reaction to each failed call is in one table, domain/call_reaction.h. A transient failure of a call
//     for one file postpones that file's delivery, and the job goes on with the others; a transient failure
//     of any other call, and a 429 to any call, end the job (spec 3.5).
// 12. Only the success of the call that failed ends its trouble. A read that finds a write done counts as
//     that write's success, and a read's definite refusal as its own; a read that answers proves nothing else
//     about a write (spec 3.5, domain/trouble.h).
// 13. A refused login counts only while it is still the stored one. Where another was saved meanwhile, the
//     call is made again with that one, so that no fix is missed (spec 3.6). A lost login ends the work for
//     its own account: the job goes on for other accounts of the same cloud user, and looks up unknown shares
//     with their logins.
// 14. A name that leads to another user than before owes that user everything; files that the former user got
//     stay theirs. A name that leads to a known customer's user hands its deliveries to that customer (spec
//     3.11).
// 15. A failed delivery that is probed takes part in the calls. Its status and events stay as they are until
//     a write succeeds for it, or until it fails for another reason than the platform's trouble: a probe that
//     fails is no news (spec 3.5).
// 16. When the worker stops, the job takes in the answer that it waits for, makes no further call, and
//     releases the deliveries without counting a failure: the interruption is the service's own (spec 3.5,
//     12.3).
// 17. All that must outlast the job is in rows. Its memory (Job, below the lease) saves calls and ends loops,
//     and may be lost at any moment.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cloud/cloud.h"
#include "domain/delivery.h"
#include "domain/trouble.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// Why a job makes no further call: the outcome for all of the customer's deliveries that have none of their
// own.
struct JobOutcome {
  enum class Kind {
    retried,         // at `retry_at`; without it, at once
    account_paused,  // likewise, and the failure counts for no delivery
    failed           // with `code`
  };
  Kind kind;
  std::optional<Timestamp> retry_at;
  std::optional<Timestamp> settle_at;  // no settlement or revocation before it
  domain::ResolutionCode code = domain::ResolutionCode::none;
  std::string message;  // what a merchant reads of `code`; empty: the usual message

  static JobOutcome fail(domain::ResolutionCode code) { return {.kind = Kind::failed, .code = code}; }
};

// The lease of a customer's work. The members after `expires_at` are the job's memory: lost with the process,
// and not needed (rule 17).
struct Job {
  CustomerId customer;
  CloudAccountId cloud_account;
  std::string cloud_user;  // the platform's id of that account
  std::int64_t fence = 0;
  Timestamp expires_at{};

  bool request_sent = false;
  bool more_deliveries = false;  // whose name leads to a known customer, beyond those that were handed over
  bool name_resolved = false;    // this job has looked up whom the name leads to
  int friendship_checks = 0;
  int session_retries = 0;
  bool shutting_down = false;  // the worker stops (rule 16)
  // Deliveries of which a share or its settlement failed for a while, and when it is retried; and those of
  // which a revocation did (rule 11).
  std::map<DeliveryId, Timestamp> postponed;
  std::map<DeliveryId, Timestamp> postponed_revocations;
  // A look-up of a share failed in an outage: the job makes no other one, and goes on with a call of another kind. The
  // outage may be of that call: trouble that no job meets would fail no delivery after 72 h (spec 3.5).
  bool looks_up_no_more = false;
  std::map<ItemId, domain::ResolutionCode> failed_items;
  std::optional<JobOutcome> outcome;  // nothing: the job goes on
  // Accounts whose login the job has lost, each with the outcome for its deliveries (rule 13). They make no
  // further call, and `settle_at` is set.
  std::map<AccountId, JobOutcome> without_login;

  // The outcome for the account's deliveries; null: there is none yet.
  const JobOutcome* outcome_of(AccountId account) const {
    const auto own = without_login.find(account);
    if (own != without_login.end()) return &own->second;
    return outcome ? &*outcome : nullptr;
  }
  // Null unless the outcome is a failure.
  const JobOutcome* failure() const {
    return outcome && outcome->kind == JobOutcome::Kind::failed ? &*outcome : nullptr;
  }
  std::optional<Timestamp> retry_at(AccountId account) const {
    const auto* const its = outcome_of(account);
    return its ? its->retry_at : std::nullopt;
  }
  std::optional<Timestamp> settle_at(AccountId account) const {
    const auto* const its = outcome_of(account);
    return its ? its->settle_at : std::nullopt;
  }
};

// The calls, each with the type of its result. Users, files and keys are those of the time when the call was
// begun.
struct FindUser {
  static constexpr auto kKind = domain::CallKind::find_user;
  using Result = cloud::CloudUser;
  std::string username;
  // Looks up the friendship right after the user. Neither call has an effect, so no intent lies between them.
  bool then_friendship = false;
};
struct FindFriendship {
  static constexpr auto kKind = domain::CallKind::friendship;
  using Result = cloud::FriendshipState;
  std::string user_id;
};
struct RequestFriendship {
  static constexpr auto kKind = domain::CallKind::request_friendship;
  using Result = cloud::FriendshipState;
  std::string user_id;
  std::string idempotency_key;
};
struct WithdrawRequest {
  static constexpr auto kKind = domain::CallKind::withdraw;
  using Result = std::monostate;
  std::string user_id;
};
// A call for one file, of one item of the call's delivery.
struct ItemRequest {
  ItemId item;
  AccountId account;  // who pays for the item
  std::string user_id;
  std::string file_id;
};
struct ShareFile : ItemRequest {
  static constexpr auto kKind = domain::CallKind::share;
  using Result = cloud::Share;
  std::string idempotency_key;
};
struct FindShare : ItemRequest {
  static constexpr auto kKind = domain::CallKind::find_share;
  using Result = std::optional<cloud::Share>;
};
struct RevokeShare : ItemRequest {
  static constexpr auto kKind = domain::CallKind::revoke;
  using Result = std::monostate;
  bool perhaps_gone = false;  // an earlier call may have taken the share back
};

struct Call {
  std::variant<FindUser, FindFriendship, RequestFriendship, WithdrawRequest, ShareFile, FindShare,
               RevokeShare>
      request;
  AccountId account;                                         // whose login makes the call
  DeliveryId delivery;                                       // none: a withdrawal for no delivery
  storage::Friendship known = storage::Friendship::unknown;  // of the customer, when the call was begun
  storage::CredentialsStanding login{};                      // of `account`, when the call was begun

  domain::CallKind kind() const {
    return std::visit([](const auto& one) { return one.kKind; }, request);
  }
  template <class Request>
  const Request* as() const {
    return std::get_if<Request>(&request);
  }
  // Null: the call is for no item.
  const ItemRequest* item() const {
    return std::visit(
        [](const auto& one) -> const ItemRequest* {
          if constexpr (std::is_base_of_v<ItemRequest, std::remove_cvref_t<decltype(one)>>) return &one;
          return nullptr;
        },
        request);
  }
};

// A job with its next call.
struct JobCall {
  Job job;
  // Nothing: the job has ended, and its lease is released; or, where it was `lost`, taken over.
  std::optional<Call> call;
  bool lost = false;
};

// The platform's answer to a call: the Result of its request, or an error.
struct Answer {
  Call call;
  std::variant<std::monostate, cloud::CloudUser, cloud::FriendshipState, cloud::Share,
               std::optional<cloud::Share>, cloud::CloudError>
      value;
  std::optional<cloud::CloudResult<cloud::FriendshipState>> friendship;  // of FindUser::then_friendship
  std::optional<Millis> took;                                            // nothing: no call was made
  bool other_user = false;         // the login is of another cloud account than the job's: no call was made
  std::int64_t login_version = 0;  // of the login that the call was made with
  // Null: all that was asked succeeded.
  const cloud::CloudError* error() const {
    if (friendship && !*friendship) return &friendship->error();
    return std::get_if<cloud::CloudError>(&value);
  }
};

// A job with the answer to its last call; without one the job begins.
struct JobAnswer {
  Job job;
  std::optional<Answer> answer;
};

}  // namespace presetbridge::services
