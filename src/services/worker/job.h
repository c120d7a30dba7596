// A job on a customer's deliveries (spec 3.2), as a conversation between the database and the cloud platform:
// each step is one transaction that takes in the answer of the last cloud call, obeys what was asked
// meanwhile, and commits the intent of the next call before it is made. So a crash between any two steps
// loses nothing and repeats nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cloud/cloud.h"
#include "domain/delivery.h"
#include "services/worker/account_trouble.h"
#include "storage/credential_store.h"
#include "storage/customer_store.h"

namespace presetbridge::services {

struct WorkerOptions {
  std::string owner = "node";     // names this process in leases
  int jobs_per_minute = 5;        // for each cloud account (spec 3.4); 0: no limit
  int jobs_per_minute_total = 0;  // of the whole service, over all nodes; 0: no limit
  int max_jobs = 256;             // at once, in this process
  Millis lease{40'000};           // longer than a call's timeout plus a login's
  Millis poll{1'000};             // how long it may take to see what another node queued
  Millis maintenance{5'000};      // take-overs, and looks for all that may have been missed
  int sweep_page = 200;
  Millis first_sweep{60'000};  // after a friend request (spec 3.5)
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
  bool stop_calling = false;     // an answer ended the job: no further call
  bool account_trouble = false;  // ... because the account is paused now
  bool shutting_down = false;    // the worker stops: the answer is recorded, and no further call is made
  std::optional<Timestamp> retry_at;
  std::optional<Timestamp> settle_at;  // no settlement or revocation before it
  // Deliveries of which a share or its settlement, or a revocation, failed in passing, and when that is tried
  // again: the job goes on with the others.
  std::map<DeliveryId, Timestamp> put_off;
  std::map<DeliveryId, Timestamp> revocations_put_off;
  std::map<ItemId, domain::ResolutionCode> failed_items;
  std::optional<domain::ResolutionCode> failed_all;
  std::string failed_words;  // what a merchant reads of `failed_all`; empty: the usual words
  AccountId failed_account;  // whose deliveries `failed_all` is of; none: everybody's
};

// The next thing to ask of the platform, or that there is nothing more (`done`), or that the lease is not
// ours any more (`lost`).
struct Call {
  enum class Kind {
    done,
    lost,
    find_user,
    friendship,
    request_friendship,
    withdraw,
    share,
    find_share,
    revoke
  };
  Kind kind = Kind::done;
  storage::Friendship known = storage::Friendship::unknown;  // of the customer, when the call was begun
  AccountId account;                                         // whose login makes the call
  storage::CredentialsStanding login;                        // of that account, when the call was begun
  DeliveryId delivery;                                       // for the log, and for counting failures
  ItemId item;                                               // share, find_share, revoke
  std::string username;                                      // find_user
  // find_user: ask for the friendship right after it; neither call has an effect, so no intent lies between
  // them.
  bool then_friendship = false;
  std::string user_id;
  std::string file_id;
  std::string idempotency_key;
};

// A job with what to ask next for it.
struct JobCall {
  Job job;
  Call call;
  OutageTurn outage = OutageTurn::none;  // of the job's cloud account, by the answer that was taken in
};

// What came of a call.
struct Answer {
  Call call;
  std::variant<std::monostate, cloud::CloudUser, cloud::FriendshipState, cloud::Share,
               std::optional<cloud::Share>, cloud::CloudError>
      value;
  std::optional<cloud::CloudResult<cloud::FriendshipState>> friendship;  // of Call::then_friendship
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
