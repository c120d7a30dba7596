#include "services/dispatcher/webhook_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "crypto/webhook_signature.h"
#include "net/address_guard.h"
#include "services/dispatcher/attempt_outcome.h"
#include "services/dispatcher/webhook_headers.h"
#include "services/webhooks/secret_rotation.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using storage::DispatchResult;
using storage::DispatchTarget;
using storage::LeasedDispatch;
using storage::Tx;

constexpr int kTakeOverBatch = 500;
constexpr Millis kEveryLease{60'000};  // full scans for leases that ran out, however long ago
constexpr Millis kRecordAgain{1'000};
constexpr Millis kLockedPause{10};

// Where a call to the URL goes, for the limit of calls to one place; empty for none.
std::string host_of(const std::string& url) {
  const auto checked = net::check_url(url, net::AddressPolicy::sandbox_receivers);
  return checked ? fmt::format("{}:{}", checked->host, checked->port) : std::string();
}

storage::DispatchLeases lease(Tx& tx, const storage::DispatchLeaseLimits& limits) {
  auto ready = lock_ready_subscriptions(tx, limits);
  for (auto& [target, active] : ready) target.host = host_of(target.url);
  return lease_dispatches(tx, std::move(ready), limits);
}

MissedWork::Wake find_forgotten(Tx& tx) {
  auto ids = storage::find_forgotten_subscriptions(tx);
  if (ids.empty()) return {};
  return [ids = std::move(ids)](Tx& writing) { storage::wake_subscriptions(writing, ids); };
}

std::int64_t unix_seconds(Timestamp t) {
  return to_unix_ms(t) / 1'000;
}

}  // namespace

WebhookDispatcher::WebhookDispatcher(DispatcherPorts ports, DispatcherOptions options)
    : ports_(ports),
      options_(std::move(options)),
      secrets_(ports_.cipher, options_.cached_secrets),
      recorder_(ports_.async_db,
                [](Tx& tx, std::span<const DispatchResult> results, std::span<std::monostate>) {
                  storage::record_results(tx, results);
                },
                {.max_rows = 1'024, .max_queue = static_cast<std::size_t>(options_.max_under_way)}),
      scan_(options_.maintenance),
      expired_(kEveryLease),
      maintenance_(ports_.scheduler),
      tasks_(ports_.scheduler, {.log = ports_.log,
                                .message = "a task of the webhook dispatcher failed",
                                .metrics = &ports_.metrics,
                                .counter = "presetbridge_dispatcher_faults_total"}),
      missed_work_({ports_.scheduler, ports_.clock, ports_.async_db, scan_, tasks_},
                   {[](Tx& tx) { return storage::next_ready_subscription(tx, {}); }, find_forgotten},
                   options_.maintenance) {
  if (options_.lease <= options_.deadline) {
    throw std::invalid_argument("the lease of a webhook must be longer than the deadline of its call");
  }
}

void WebhookDispatcher::start() {
  tasks_.start_loop(lease_loop(), "lease loop");
  tasks_.start_loop(maintenance_loop(), "maintenance loop");
  tasks_.start_loop(missed_work_.run(), "missed work loop");
}

void WebhookDispatcher::stop(Callback stopped) {
  maintenance_.notify();
  missed_work_.stop();
  tasks_.stop(std::move(stopped));
}

Task<void> WebhookDispatcher::lease_loop() {
  while (!tasks_.stopping()) {
    const int slots = std::min(options_.batch, options_.max_under_way - tasks_.jobs());
    Millis pause = options_.poll;
    if (slots > 0) {
      const Timestamp from = scan_.begin();
      auto leased = co_await ports_.async_db.write(
          ports_.scheduler, [limits = lease_limits(from, slots)](Tx& tx) { return lease(tx, limits); });
      if (leased) {
        scan_.saw(from, leased->next_ready, leased->at);
        std::vector<std::shared_ptr<const DispatchTarget>> targets;
        for (auto& target : leased->targets)
          targets.push_back(std::make_shared<DispatchTarget>(std::move(target)));
        for (auto& dispatch : leased->dispatches) {
          // An exception is a fault here: the lease expires and the attempt is repeated.
          tasks_.start_job(this->send(targets[dispatch.target], std::move(dispatch)), "send",
                           [this](const std::exception_ptr&) { tasks_.wake(); });
        }
        for (const auto& [subscription, host] : leased->put_off) hosts_[host].put_off_one(subscription);
        for (const auto& [subscription, account] : leased->put_off_by_account)
          accounts_[account].put_off_one(subscription);
        if (leased->next_ready) {
          pause = std::clamp(*leased->next_ready - ports_.clock.now(), Millis{0}, options_.poll);
          // Ready rows that were not leased are locked by another transaction, for a moment.
          if (leased->dispatches.empty() && leased->put_off.empty() && leased->put_off_by_account.empty())
            pause = std::max(pause, kLockedPause);
        }
        if (pause == Millis{0} && tasks_.jobs() < options_.max_under_way) continue;
      } else {
        if (!storage::is_logged(leased.error()))
          ports_.log.warn("no webhooks could be leased", {{"error", leased.error().message}});
      }
    }
    co_await tasks_.wait(std::max(pause, Millis{1}));
  }
}

// The attempts that may be leased now: for each host and account as many as it has slots, first those that
// wait for one. Attempts of a lease that fails are ready again when the lease would have expired.
storage::DispatchLeaseLimits WebhookDispatcher::lease_limits(Timestamp from, int slots) {
  const int eighth = std::max(options_.max_under_way / 8, 1);
  storage::DispatchLeaseLimits limits{.from = from,
                                      .dispatches = slots,
                                      .per_subscription = options_.per_subscription,
                                      .lease = options_.lease,
                                      .lowered = lowered_,
                                      .per_host = options_.per_host,
                                      .per_account = eighth,
                                      .account_alone = std::max(options_.max_under_way - eighth, 1)};
  for (auto& [name, host] : hosts_) {
    limits.under_way[name] = host.under_way;
    host.take(options_.per_host, 0, under_way_, limits);
  }
  const int per_account = accounts_.size() > 1 ? limits.per_account : limits.account_alone;
  for (auto& [id, account] : accounts_) {
    limits.under_way_of_account[id] = account.under_way;
    account.take(per_account, storage::DispatchLeaseLimits::reserved_for_others(per_account), under_way_,
                 limits);
  }
  const auto unused = [](const auto& entry) {
    return entry.second.under_way == 0 && entry.second.put_off.empty();
  };
  std::erase_if(hosts_, unused);
  std::erase_if(accounts_, unused);
  return limits;
}

void WebhookDispatcher::Slots::put_off_one(SubscriptionId subscription) {
  if (std::ranges::find(put_off, subscription) == put_off.end()) put_off.push_back(subscription);
}

void WebhookDispatcher::Slots::take(int most, int reserved,
                                    const std::unordered_map<SubscriptionId, int>& dispatches_under_way,
                                    storage::DispatchLeaseLimits& limits) {
  // A target that is taken but not visited would wait for the next full scan.
  const int slots = limits.dispatches - static_cast<int>(limits.again.size());
  int room = std::min(most - under_way, slots);
  int shared = most - reserved - under_way;
  for (auto next = put_off.begin(); next != put_off.end() && room > 0;) {
    if (shared <= 0 && dispatches_under_way.contains(*next)) {
      ++next;
      continue;
    }
    limits.again.push_back(*next);
    next = put_off.erase(next);
    --room;
    --shared;
  }
}

template <class Key>
void WebhookDispatcher::give_back(std::unordered_map<Key, Slots>& slots, const Key& key) {
  const auto found = slots.find(key);
  if (--found->second.under_way == 0 && found->second.put_off.empty()) slots.erase(found);
}

WebhookDispatcher::Slot::~Slot() {
  give_back(dispatcher_.hosts_, host_);
  give_back(dispatcher_.accounts_, account_);
  const auto found = dispatcher_.under_way_.find(subscription_);
  if (--found->second == 0) dispatcher_.under_way_.erase(found);
}

Task<void> WebhookDispatcher::maintenance_loop() {
  while (!tasks_.stopping()) {
    const Timestamp from = expired_.begin(ports_.clock.now());
    // A read costs no write: an idle service leaves the disk alone.
    const auto expired = co_await ports_.async_db.read(ports_.scheduler, [from](Tx& tx) {
      return std::pair(storage::any_dispatch_expired(tx, from), tx.now());
    });
    bool more = false;
    if (expired && expired->first) {
      const auto taken = co_await ports_.async_db.write(ports_.scheduler, [from](Tx& tx) {
        return storage::take_over_expired_dispatches(tx, from, kTakeOverBatch);
      });
      more = taken && *taken > 0;
      if (more)
        ports_.log.info("webhooks whose lease ran out were taken over", {{"count", std::int64_t{*taken}}});
    } else if (expired) {
      expired_.saw(from, std::nullopt, expired->second);
    }
    if (more) tasks_.wake();
    if (!tasks_.stopping() && forget_.take(ports_.clock.now())) co_await forget_inactive();
    co_await maintenance_.wait(more ? Millis{1} : options_.maintenance);
  }
}

Expected<net::OutgoingRequest> WebhookDispatcher::request_of(const DispatchTarget& target,
                                                             LeasedDispatch& dispatch) {
  const auto found = secrets_.find(target);
  if (!found) return std::unexpected(found.error());
  const SigningSecrets& secrets = **found;
  const Timestamp now = ports_.clock.now();
  const std::int64_t timestamp = unix_seconds(now);
  std::optional<std::string_view> previous;
  std::optional<std::string_view> older;
  if (!secrets.older.empty() && end_of_older_secret(target) > now) older = secrets.older;
  if (!secrets.previous.empty() && target.previous_secret_expires_at > now) {
    previous = secrets.previous;
  } else {
    previous = std::exchange(older, std::nullopt);
  }
  auto signatures =
      crypto::sign_webhook({dispatch.uuid, timestamp, dispatch.body}, secrets.current, previous, older);
  if (!signatures) return std::unexpected(signatures.error());
  net::OutgoingRequest request{
      .url = target.url,
      .headers = webhook_headers(dispatch.type, dispatch.uuid, now),
      .body = std::move(dispatch.body),
      .policy = options_.sandbox ? net::AddressPolicy::sandbox_receivers : net::AddressPolicy::public_https,
      .deadline = options_.deadline,
      .owner = to_string(target.account)};
  request.headers.emplace_back("X-Vendor-Signature", std::move(signatures->vendor));
  request.headers.emplace_back("webhook-signature", std::move(signatures->standard));
  if (signatures->vendor_previous) {
    request.headers.emplace_back("X-Vendor-Signature-Previous", std::move(*signatures->vendor_previous));
  }
  if (signatures->vendor_older)
    request.headers.emplace_back("X-Vendor-Signature-Older", std::move(*signatures->vendor_older));
  return request;
}

Task<void> WebhookDispatcher::send(std::shared_ptr<const DispatchTarget> target, LeasedDispatch dispatch) {
  DispatchResult result{.subscription = target->id,
                        .dispatch = dispatch.id,
                        .fence = dispatch.fence,
                        .attempt_id = ports_.ids.next(),
                        .attempts = dispatch.attempts + 1,
                        .at = ports_.clock.now(),
                        .version = target->version};
  std::string problem;
  {
    const Slot slot(*this, *target);
    if (auto request = request_of(*target, dispatch)) {
      const auto http = co_await ports_.http.send(ports_.scheduler, std::move(*request));
      conclude_attempt(result, http, ports_.clock.now());
      if (!result.released) adapt(target->id, http.answer() != nullptr);
    } else {
      problem = request.error().code;
      conclude_unsigned(result, ports_.clock.now());
    }
  }

  ports_.metrics.count("presetbridge_webhook_sends_total", {{"outcome", result.outcome}});
  if (result.status != storage::DispatchStatus::succeeded) {
    ports_.log.info("a webhook was not delivered", {{"account", to_string(target->account)},
                                                    {"subscription", to_string(target->id)},
                                                    {"event", dispatch.uuid},
                                                    {"outcome", problem.empty() ? result.outcome : problem},
                                                    {"status", std::int64_t{result.http_status.value_or(0)}},
                                                    {"attempt", result.attempts}});
  }
  co_await record(std::move(result), dispatch.expires_at);
}

// As long as the lease holds, a result that could not be written is worth another try: without it the
// receiver gets the event twice.
Task<void> WebhookDispatcher::record(DispatchResult result, Timestamp lease_expires_at) {
  while (true) {
    const auto recorded = co_await recorder_.add(ports_.scheduler, result);
    if (recorded) co_return;
    if (!storage::is_logged(recorded.error()))
      ports_.log.warn(
          "the result of a webhook could not be recorded",
          {{"subscription", to_string(result.subscription)}, {"error", recorded.error().message}});
    if (tasks_.stopping() || ports_.clock.now() + kRecordAgain >= lease_expires_at) co_return;
    co_await sleep_for(ports_.scheduler, kRecordAgain);
  }
}

// A receiver that does not answer holds each of its slots for the whole deadline: it keeps one, and earns
// the others back.
void WebhookDispatcher::adapt(SubscriptionId subscription, bool answered) {
  const auto found = lowered_->find(subscription);
  const bool known = found != lowered_->end();
  if (answered ? !known : known && found->second == 1) return;
  auto limits = *lowered_;
  int& limit = limits[subscription];
  limit = answered ? limit * 2 : 1;
  if (limit >= options_.per_subscription) limits.erase(subscription);
  lower(std::move(limits));
}

void WebhookDispatcher::lower(storage::DispatchLimits limits) {
  ports_.metrics.set("presetbridge_receivers_not_answering", static_cast<double>(limits.size()));
  // A new map: a lease may be reading the present one on the storage thread.
  lowered_ = std::make_shared<const storage::DispatchLimits>(std::move(limits));
}

Task<void> WebhookDispatcher::forget_inactive() {
  std::vector<SubscriptionId> ids;
  for (const auto& [id, limit] : *lowered_) ids.push_back(id);
  if (ids.empty()) co_return;
  auto active = co_await ports_.async_db.read(
      ports_.scheduler, [&ids](Tx& tx) { return storage::find_active_subscriptions(tx, ids); });
  if (!active || active->size() == ids.size()) co_return;
  std::ranges::sort(*active);
  auto limits = *lowered_;
  for (const auto id : ids) {
    if (!std::ranges::binary_search(*active, id)) limits.erase(id);
  }
  lower(std::move(limits));
}

}  // namespace presetbridge::services
