// A job: what the worker does for one customer of one cloud account (spec 3.2). It is a conversation of
// steps. Each takes in the answer of the platform to the last call and gives the next call, until there is
// none. The steps are job_step.h's, the calls are made by job_runner.h.
//
// Rules, each with its reason:
//  1. One job at a time runs for a customer, and it serves all of their deliveries that are due, at most
//     kMostDeliveriesOfJob. So two orders of one buyer make one friend request and share a file once (spec
//     3.2).
//  2. A step is one transaction: it takes the answer in, reads all rows again, and commits the intent of the
//     next call before that is made. So a crash between any two steps loses nothing and repeats nothing: the
//     job that takes over starts from the intent (spec 3.9).
//  3. A step changes nothing unless the customer has the fence of the job's lease: after a take-over another
//     job is at work. If the refused answer had an effect, a settlement finds it (spec 3.4).
//  4. Each answer renews the lease, and a call starts only if the lease outlasts its timeout: else two jobs
//     could call for one customer at once (spec 3.4).
//  5. A pending action of a delivery is obeyed before each call, so that what the merchant or the store has
//     ended meanwhile is not shared; but a share that was begun is settled first (spec 3.3).
//  6. Unknown shares are looked up first, as nobody knows what is owed before; then what can be shared is
//     shared, as it is what buyers wait for; then files are taken back and requests withdrawn, as one that
//     keeps failing must hold up no order; then the name is resolved and the friendship made (spec 3.4).
//  7. A share commits its item as `sharing`, the hold of a credit and the idempotency key in the step before
//     the call. Where nobody knows whether it had its effect, all three stay until the call can have none any
//     more; then a look-up decides. So a file is shared once and paid once (spec 3.9, 11.1).
//  8. No friend request is sent for what cannot be paid: the buyer would accept and get nothing (spec 3.6).
//  9. A request that may stand is not repeated: the friendship is looked up before. Only a merchant's retry
//     asks anew, and withdraws the old request first (spec 3.5).
// 10. A friendship is looked up kMaxFriendshipChecks times in a job at most: a platform that contradicts
//     itself ends the job as a failure that is tried again, and keeps no place for ever.
// 11. What a failed call does is one table, domain/call_reaction.h. What fails for one file puts off its
//     delivery alone, and the job goes on with the others; what fails for the customer ends the job (spec
//     3.5).
// 12. Only the success of the call that failed, or a read that finds the write done, ends its trouble: a read
//     that answers proves nothing about a write (spec 3.5, domain/trouble.h).
// 13. A refused login counts only if it is the one that is stored still; where another was saved meanwhile
//     the call is made again with that, so that no fix is missed (spec 3.6).
// 14. A name that leads to another user than before owes that user everything; what the former one got stays
//     theirs. A name that leads to a known customer's user hands its deliveries to that customer (spec 3.11).
// 15. A failed delivery that is probed takes part in the calls, and its status and events stay as they are
//     until a write succeeds for it: a probe that fails is no news (spec 3.5).
// 16. When the worker stops, the job takes in the answer that it waits for, makes no further call, and gives
//     the deliveries back without a try lost: the interruption is ours (spec 3.5).
// 17. All that must outlast the job is in rows. What it remembers beside (Job, below the lease) saves calls
//     and ends loops, and may vanish at any moment.
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
#include "services/worker/account_trouble.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// Why a job makes no further call, for all of the customer's deliveries that have none of their own.
struct JobOutcome {
  enum class Kind {
    tried_again,     // at `retry_at`; without it, at once
    account_paused,  // likewise, and no try is lost
    failed           // with `code`
  };
  Kind kind;
  std::optional<Timestamp> retry_at;
  std::optional<Timestamp> settle_at;  // no settlement or revocation before it
  domain::ResolutionCode code = domain::ResolutionCode::none;
  std::string words;  // what a merchant reads of `code`; empty: the usual words
  AccountId account;  // whose deliveries fail; none: everybody's

  static JobOutcome fail(domain::ResolutionCode code) { return {.kind = Kind::failed, .code = code}; }
};

// The lease of a customer's work. What follows `expires_at` is the job's own memory: gone with the process,
// and not needed.
struct Job {
  CustomerId customer;
  CloudAccountId cloud_account;
  std::string cloud_user;  // the platform's id of that account
  std::int64_t fence = 0;
  Timestamp expires_at{};

  bool request_sent = false;
  bool name_resolved = false;  // by this job: who the name leads to was asked
  int friendship_checks = 0;
  int session_retries = 0;
  bool shutting_down = false;  // the worker stops: the answer is recorded, and no further call is made
  // Deliveries of which a share or its settlement, or a revocation, failed in passing, and when that is tried
  // again: the job goes on with the others.
  std::map<DeliveryId, Timestamp> put_off;
  std::map<DeliveryId, Timestamp> revocations_put_off;
  std::map<ItemId, domain::ResolutionCode> failed_items;
  std::optional<JobOutcome> outcome;  // nothing: it goes on

  const JobOutcome* failure() const {
    return outcome && outcome->kind == JobOutcome::Kind::failed ? &*outcome : nullptr;
  }
  std::optional<Timestamp> retry_at() const { return outcome ? outcome->retry_at : std::nullopt; }
  std::optional<Timestamp> settle_at() const { return outcome ? outcome->settle_at : std::nullopt; }
};

// What is asked of the platform, and what it answers. Users, files and keys are those of the time when the
// call was begun.
struct FindUser {
  static constexpr auto kKind = domain::CallKind::find_user;
  using Result = cloud::CloudUser;
  std::string username;
  // Asks for the friendship right after it; neither call has an effect, so no intent lies between them.
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
// For one file, of one item of the call's delivery.
struct ItemRequest {
  ItemId item;
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
};

struct Call {
  std::variant<FindUser, FindFriendship, RequestFriendship, WithdrawRequest, ShareFile, FindShare,
               RevokeShare>
      request;
  AccountId account;                                         // whose login makes the call
  DeliveryId delivery;                                       // for the log, and for counting failures
  storage::Friendship known = storage::Friendship::unknown;  // of the customer, when the call was begun
  storage::CredentialsStanding login{};                      // of that account, when the call was begun

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

// A job with what to ask next for it.
struct JobCall {
  Job job;
  // Nothing: the job has ended and its lease is released; or, where it was `lost`, taken over.
  std::optional<Call> call;
  bool lost = false;
  OutageTurn outage = OutageTurn::none;  // of the job's cloud account, by the answer that was taken in
};

// What came of a call: the Result of its request, or an error.
struct Answer {
  Call call;
  std::variant<std::monostate, cloud::CloudUser, cloud::FriendshipState, cloud::Share,
               std::optional<cloud::Share>, cloud::CloudError>
      value;
  std::optional<cloud::CloudResult<cloud::FriendshipState>> friendship;  // of FindUser::then_friendship
  std::optional<Millis> took;                                            // nothing: no call was made
  bool other_user = false;         // the login is not of the job's cloud account: no call was made
  std::int64_t login_version = 0;  // of the login that the call was made with
  const cloud::CloudError* error() const {
    if (friendship && !*friendship) return &friendship->error();
    return std::get_if<cloud::CloudError>(&value);
  }
};

// A job with what came of its last call; without an answer it begins.
struct JobAnswer {
  Job job;
  std::optional<Answer> answer;
};

}  // namespace presetbridge::services
