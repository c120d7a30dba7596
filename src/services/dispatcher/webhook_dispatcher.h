// The webhook dispatcher (spec 10): leases due delivery attempts in bulk, signs them, sends each as a
// coroutine, and records the results in bulk. Its memory may vanish at any moment: an attempt whose result
// was not recorded is repeated with its id.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/recurring.h"
#include "base/wakeup.h"
#include "crypto/service_cipher.h"
#include "net/http_client.h"
#include "services/dispatcher/secret_cache.h"
#include "services/leases/missed_work.h"
#include "services/leases/ready_scan.h"
#include "storage/commit/async_database.h"
#include "storage/commit/batcher.h"
#include "storage/stores/dispatch_store.h"

namespace presetbridge::services {

struct DispatcherOptions {
  bool sandbox = false;  // receivers on loopback are reached, by plain HTTP too
  // Under way at once, in this process; not more than the HttpClient takes. An account has at most an eighth
  // of them while others have or want some; alone, all but an eighth (spec 8.6). The last quarter of what it
  // has is for its subscriptions that have none.
  int max_under_way = 1'024;
  int batch = 512;            // leased at once
  int per_subscription = 16;  // under way at once; one alone after a timeout or a lost connection
  int per_host = 256;         // under way at once, of all subscriptions that lead there; not more than the
                              // HttpClient takes, or they wait there at the cost of their deadline
  Millis deadline{15'000};    // of a call
  Millis lease{40'000};       // longer than the deadline
  Millis poll{1'000};         // how long it may take to see what another node queued
  Millis maintenance{5'000};  // take-overs, and scans for missed rows
  std::size_t cached_secrets = 10'000;
};

struct DispatcherPorts {
  Scheduler& scheduler;  // where the dispatcher lives: all of its coroutines run there
  const Clock& clock;
  IdSource& ids;
  Log& log;
  Metrics& metrics;
  storage::AsyncDatabase& async_db;
  net::HttpClient& http;
  const crypto::ServiceCipher& cipher;
};

// All but wake() are called on the scheduler's thread. Destroyed after `stopped`, and after
// AsyncDatabase::shutdown().
class WebhookDispatcher {
 public:
  // Throws std::invalid_argument unless a lease outlasts a call.
  WebhookDispatcher(DispatcherPorts ports, DispatcherOptions options);

  void start();
  // No new attempts. Those under way end with their answer or, once the HttpClient is stopped, at once: what
  // was aborted is released, to be sent again with the same id. `stopped` is called once, when all has been
  // recorded.
  void stop(Callback stopped);
  // There may be something to send. Thread-safe, cheap.
  void wake() { tasks_.wake(); }

 private:
  // A slot at a host and of an account, from the lease of the attempt to the end of its call.
  class Slot {
   public:
    Slot(WebhookDispatcher& dispatcher, const storage::DispatchTarget& target)
        : dispatcher_(dispatcher), host_(target.host), account_(target.account), subscription_(target.id) {
      ++dispatcher_.hosts_[host_].under_way;
      ++dispatcher_.accounts_[account_].under_way;
      ++dispatcher_.under_way_[subscription_];
    }
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    WebhookDispatcher& dispatcher_;
    const std::string host_;
    const AccountId account_;
    const SubscriptionId subscription_;
  };

  Task<void> lease_loop();
  Task<void> maintenance_loop();
  Task<void> send(std::shared_ptr<const storage::DispatchTarget> target, storage::LeasedDispatch dispatch);
  Task<void> record(storage::DispatchResult result, Timestamp lease_expires_at);
  // Signed; takes the body of `dispatch`.
  Expected<net::OutgoingRequest> request_of(const storage::DispatchTarget& target,
                                            storage::LeasedDispatch& dispatch);
  void adapt(SubscriptionId subscription, bool answered);
  // Counts subscriptions that were deleted or turned off no more among those that do not answer.
  Task<void> forget_inactive();
  void lower(storage::DispatchLimits limits);
  storage::DispatchLeaseLimits lease_limits(Timestamp from, int slots);

  DispatcherPorts ports_;
  const DispatcherOptions options_;
  SecretCache secrets_;
  storage::Batcher<storage::DispatchResult, std::monostate> recorder_;
  // Subscriptions whose receiver did not answer lately, and how many attempts they may have at once.
  std::shared_ptr<const storage::DispatchLimits> lowered_ = std::make_shared<storage::DispatchLimits>();
  // Hosts and accounts with attempts under way, and the subscriptions that wait for a slot there, in turn.
  struct Slots {
    int under_way = 0;
    std::deque<SubscriptionId> put_off;

    void put_off_one(SubscriptionId subscription);
    // Adds the next that wait to those to be visited, as many as there is room for with `most` slots, the
    // last `reserved` of them for those that have no attempt under way.
    void take(int most, int reserved, const std::unordered_map<SubscriptionId, int>& dispatches_under_way,
              storage::DispatchLeaseLimits& limits);
  };
  template <class Key>
  static void give_back(std::unordered_map<Key, Slots>& slots, const Key& key);
  std::unordered_map<std::string, Slots> hosts_;
  std::unordered_map<AccountId, Slots> accounts_;
  std::unordered_map<SubscriptionId, int> under_way_;
  ReadyScan scan_;
  ReadyScan expired_;  // leases that ran out
  Recurring forget_{std::chrono::minutes{1}};
  Wakeup maintenance_;
  BackgroundTasks tasks_;  // loops, of which that of leases waits here; attempts
  MissedWork missed_work_;
};

}  // namespace presetbridge::services
