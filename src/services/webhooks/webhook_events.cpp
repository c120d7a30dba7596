#include "services/webhooks/webhook_events.h"

#include <algorithm>

#include "identity/audit.h"
#include "services/webhooks/event_uuid.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services {
namespace {

using identity::Principal;
using storage::SentEventRow;
using storage::Tx;

std::unexpected<Error> no_such_subscription() {
  return fail("NOT_FOUND", "There is no such subscription.");
}
std::unexpected<Error> no_such_event() {
  return fail("NOT_FOUND", "There is no such event of this subscription, or it is past its retention.");
}
std::unexpected<Error> not_active() {
  return fail("CONFLICT", "The subscription is not active. Activate it first.");
}

// The subscription may have had a wider scope than the key's when the event was sent (spec 6.2).
std::optional<SentEventRow> find(Tx& tx, const Principal& by, SubscriptionId subscription,
                                 const std::string& uuid) {
  const auto in_uuid = event_of(uuid);
  const auto event = in_uuid ? in_uuid : find_event_of_before(tx, uuid);
  auto row = event ? find_sent_event(tx, subscription, *event) : std::nullopt;
  if (!row || row->uuid != uuid) return std::nullopt;
  if (!by.integrations.all() && !is_of(tx, *row, by.integrations.ids())) return std::nullopt;
  return row;
}

void audit(Tx& tx, IdSource& ids, const Principal& by, std::string_view action, SubscriptionId id,
           std::string_view detail) {
  identity::audit(tx, ids, by, {action, to_string(id), std::string(detail)});
}

Expected<Recovery> plan_of(Tx& tx, const Principal& by, SubscriptionId id, Timestamp since,
                           Timestamp before) {
  constexpr auto kMost = WebhookEvents::most_counted;
  const auto subscription = visible_subscription(by, find_subscription(tx, id));
  if (!subscription) return no_such_subscription();
  if (!subscription->active) return not_active();
  if (reaches_beyond(by, *subscription)) return of_other_stores();
  const auto counted = count_failed_dispatches(tx, id, since, before, kMost + 1);
  return Recovery{.total = std::min<std::int64_t>(counted, kMost), .exact = counted <= kMost};
}

}  // namespace

Task<Expected<storage::Page<SentEventRow>>> WebhookEvents::list(Executor& executor, Principal by,
                                                                SubscriptionId id,
                                                                storage::SentEventFilter filter,
                                                                storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<storage::Page<SentEventRow>> {
    if (!visible_subscription(by, find_subscription(tx, id))) return no_such_subscription();
    filter.integrations = by.integrations.ids();
    return list_sent_events(tx, id, filter, page);
  });
}

Task<Expected<SentEventView>> WebhookEvents::get(Executor& executor, Principal by, SubscriptionId id,
                                                 std::string uuid) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<SentEventView> {
    if (!visible_subscription(by, find_subscription(tx, id))) return no_such_subscription();
    auto row = find(tx, by, id, uuid);
    if (!row) return no_such_event();
    auto body = find_event_body(tx, row->event);
    auto attempts = attempts_of_dispatch(tx, row->dispatch);
    return SentEventView{std::move(*row), std::move(body), std::move(attempts)};
  });
}

Task<Expected<SentEventRow>> WebhookEvents::resend(Executor& executor, Principal by, SubscriptionId id,
                                                   std::string uuid) {
  auto sent = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<SentEventRow> {
    const auto subscription = visible_subscription(by, find_subscription(tx, id));
    if (!subscription) return no_such_subscription();
    const auto row = find(tx, by, id, uuid);
    if (!row) return no_such_event();
    if (!subscription->active) return not_active();
    if (!send_again(tx, id, row->dispatch)) return fail("CONFLICT", "The event is being sent now.");
    audit(tx, ids_, by, "subscription.event_resent", id, uuid);
    return find_sent_event(tx, id, row->event).value();
  });
  if (sent) changed_();
  co_return sent;
}

Task<Expected<Recovery>> WebhookEvents::recover(Executor& executor, Principal by, SubscriptionId id,
                                                Timestamp since) {
  auto begun = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<Recovery> {
    const Timestamp before = tx.now();
    auto plan = plan_of(tx, by, id, since, before);
    if (!plan || plan->total == 0) return plan;
    begin_recovery(tx, id, since, before);
    audit(tx, ids_, by, "subscription.recovery_began", id, "of what failed since " + to_iso8601(since));
    return plan;
  });
  if (begun && begun->total > 0) changed_();
  co_return begun;
}

Task<Expected<Recovery>> WebhookEvents::plan_recovery(Executor& executor, Principal by, SubscriptionId id,
                                                      Timestamp since) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) { return plan_of(tx, by, id, since, tx.now()); });
}

}  // namespace presetbridge::services
