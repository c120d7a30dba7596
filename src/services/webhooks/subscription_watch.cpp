#include "services/webhooks/subscription_watch.h"

#include <array>
#include <string_view>
#include <utility>

#include "net/address_guard.h"
#include "services/webhooks/outbound_rows.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/webhook_event_store.h"

namespace presetbridge::services {
namespace {

using storage::SubscriptionRow;
using storage::SubscriptionTrouble;
using storage::Tx;

constexpr int kMostNotified = 500;

std::string_view name_of(SubscriptionTrouble trouble) {
  switch (trouble) {
    case SubscriptionTrouble::failing:
      return "failing";
    case SubscriptionTrouble::off:
      return "off";
    case SubscriptionTrouble::gone:
      return "gone";
  }
  return "failing";
}

// Without what stands behind the host: it may be a secret of the receiver.
std::string host_of(const std::string& url) {
  const auto checked = net::check_url(url, net::AddressPolicy::sandbox_receivers);
  return checked ? checked->host : std::string();
}

boost::json::object event_fields(const SubscriptionRow& row, const storage::SubscriptionHealth& health,
                                 SubscriptionTrouble trouble) {
  boost::json::object subscription{{"id", to_string(row.id)},
                                   {"name", row.name},
                                   {"host", host_of(row.url)},
                                   {"state", name_of(trouble)},
                                   {"failingSince", to_iso8601(*row.failing_since)},
                                   {"lastStatusCode", nullptr},
                                   {"lastOutcome", health.last_outcome}};
  if (health.last_status_code) subscription["lastStatusCode"] = *health.last_status_code;
  return {{"subscription", std::move(subscription)}};
}

// A node of an earlier program may have recorded a success.
bool has_succeeded_since(const SubscriptionRow& row, const storage::SubscriptionHealth& health) {
  return health.last_success_at && *health.last_success_at >= *row.failing_since;
}

bool report_trouble(Tx& tx, IdSource& ids, Random& random, SubscriptionId id,
                    const storage::TroubleRules& rules) {
  auto row = lock_subscription(tx, id);
  const auto trouble = row ? trouble_of(*row, rules) : std::nullopt;
  if (!trouble) return false;
  const auto health = find_subscription_health(tx, id);
  // A receiver that is gone stays so, whatever other attempts had begun.
  if (*trouble != SubscriptionTrouble::gone && has_succeeded_since(*row, health)) {
    forget_failures(tx, *row);
    return false;
  }
  std::vector<SubscriptionId> others;
  const auto active = active_subscriptions(tx, std::array{row->account});
  for (const auto& other : active.front()) {
    if (other.id != id && wants_of_account(other, domain::to_string(domain::EventType::subscription_failing)))
      others.push_back(other.id);
  }
  OutboundRows rows;
  add_account_event(rows, {ids, random, tx.now()}, row->account, domain::EventType::subscription_failing,
                    others, event_fields(*row, health, *trouble));
  note_reported(tx, *row, *trouble == SubscriptionTrouble::off);
  if (*trouble == SubscriptionTrouble::off) {
    insert_audit(tx, ids,
                 {row->account, "system", "subscription.turned_off", to_string(id),
                  "failing since " + to_iso8601(*row->failing_since)});
  }
  insert_events(tx, rows.events);
  insert_dispatches(tx, rows.dispatches);
  tx.news().subscriptions.push_back({id, row->account, name_of(*trouble), *row->failing_since});
  return true;
}

}  // namespace

SubscriptionWatch::SubscriptionWatch(Scheduler& scheduler, storage::AsyncDatabase& async_db, IdSource& ids,
                                     Random& random, Log& log, Callback changed, Pace pace)
    : scheduler_(scheduler),
      async_db_(async_db),
      ids_(ids),
      random_(random),
      log_(log),
      changed_(std::move(changed)),
      pace_(pace),
      trouble_(scheduler),
      tasks_(scheduler, {.log = log, .message = "the watch over subscriptions has ended by a fault"}) {}

void SubscriptionWatch::start() {
  tasks_.start_loop(recovery_loop(), "recovery loop");
  tasks_.start_loop(trouble_loop(), "trouble loop");
}

void SubscriptionWatch::stop(Callback stopped) {
  trouble_.notify();
  tasks_.stop(std::move(stopped));
}

Task<void> SubscriptionWatch::recovery_loop() {
  SubscriptionId last;  // they take turns
  while (!tasks_.stopping()) {
    // Polling costs no write: an idle service leaves the disk alone.
    const auto any = co_await async_db_.read(scheduler_, [](Tx& tx) { return storage::any_recovery(tx); });
    bool more = false;
    if (any && *any) {
      const auto batch = co_await async_db_.write(
          scheduler_, [&](Tx& tx) { return storage::recover_failed_dispatches(tx, last, pace_.batch); });
      if (batch) {
        more = batch->has_value() || last;
        last = *batch ? (*batch)->subscription : SubscriptionId{};
        if (*batch && (*batch)->dispatches > 0) changed_();
      } else if (!storage::is_logged(batch.error())) {
        log_.warn("failed webhooks could not be made due again", {{"error", batch.error().message}});
      }
    }
    if (!tasks_.stopping()) co_await tasks_.wait(more ? Millis{1} : pace_.poll);
  }
}

Task<void> SubscriptionWatch::trouble_loop() {
  while (!tasks_.stopping()) {
    const auto found = co_await async_db_.read(scheduler_, [this](Tx& tx) {
      return storage::find_subscriptions_in_trouble(tx, rules(tx.now()), kMostNotified);
    });
    if (found) {
      for (const auto id : *found) {
        if (!tasks_.stopping()) co_await report(id);
      }
    }
    if (!tasks_.stopping()) co_await trouble_.wait(pace_.trouble_poll);
  }
}

Task<void> SubscriptionWatch::report(SubscriptionId id) {
  const auto noted = co_await async_db_.write(
      scheduler_, [this, id](Tx& tx) { return report_trouble(tx, ids_, random_, id, rules(tx.now())); });
  if (noted && *noted) changed_();
  if (!noted && !storage::is_logged(noted.error()))
    log_.error("a failing subscription could not be reported",
               {{"subscription", to_string(id)}, {"error", noted.error().message}});
}

}  // namespace presetbridge::services
