#include "services/intake/intake.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "domain/order.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using domain::OrderOutcome;
using storage::Tx;

constexpr std::size_t kRow = 512;                    // about the bytes of one
constexpr std::size_t kBytesOfMillisecond = 50'000;  // about what the writer does in one
// Events of known orders beyond it are put off: what they cost is seen when their orders are read.
constexpr std::size_t kMostOfKnown = 2 << 20;

// The bytes that the order will write, if it is new: a row a file, and the texts.
std::size_t weigh(const IncomingOrder& order) {
  std::size_t bytes = order.payload.size() + order.fresh_text.size() + 4 * kRow;
  for (const auto& file : order.plan.files) {
    bytes += kRow + file.file_id.size() + file.kind.size() + file.name.size();
    for (const auto& line : file.line_ids) bytes += line.size() + 4;
  }
  return bytes;
}

std::string reason_for(OrderOutcome outcome) {
  return outcome == OrderOutcome::stopped ? "order_stopped" : std::string(to_string(outcome));
}

bool concerns_one_order(const OrderEvent& event) {
  switch (event.kind) {
    case OrderEvent::Kind::order:
    case OrderEvent::Kind::refund:
    case OrderEvent::Kind::stop:
    case OrderEvent::Kind::risk:
      return true;
    case OrderEvent::Kind::ignored_topic:
    case OrderEvent::Kind::customer_redact:
    case OrderEvent::Kind::shop_redact:
    case OrderEvent::Kind::data_request:
      return false;
  }
  return false;
}

// Whether the event's body is the newest of the order itself: that is what is kept (spec 9.3).
bool is_newest_of_order(const OrderEvent& event, const domain::OrderState& merged) {
  return event.kind == OrderEvent::Kind::order &&
         (!event.updated_at || !merged.updated_at || *event.updated_at >= *merged.updated_at);
}

// A program of before did not note that it had mapped the lines.
void mapped_before(const storage::OrderRow& order, domain::OrderState& state) {
  const bool mapped =
      order.outcome == OrderOutcome::delivery || order.outcome == OrderOutcome::no_mapped_items;
  if (state.lines_mapped || !mapped) return;
  state.lines_mapped = true;
  // An order that is too large to be read has only lines that this program stored: they say what came of them.
  if (state.too_large) return;
  for (auto& line : state.lines) line.mapped = domain::OrderLine::Mapped::earlier;
}

void set_delivery(Accepted& answer, const storage::DeliveryRow& row) {
  answer.delivery = row.id;
  answer.status = row.status;
  answer.resolution = row.resolution;
}

// The number of receivers that each event of the delivery goes to.
std::size_t receivers_of(const storage::DeliveryRow& row, DeliverySet& set) {
  return set.subscribers(row.account, to_string(domain::EventType::delivery_queued), row.integration).size();
}

storage::OrderNews news_of(const IntegrationSnapshot& integration, const Accepted& answer) {
  using Kind = storage::OrderNews::Kind;
  return {.kind = answer.duplicate  ? Kind::repeated
                  : answer.delivery ? Kind::accepted
                                    : Kind::ignored,
          .order = answer.order,
          .order_key = answer.order_id,
          .account = integration.account,
          .integration = integration.id,
          .outcome = answer.delivery ? std::string(domain::to_string(answer.status)) : answer.reason};
}

}  // namespace

Intake::Intake(storage::AsyncDatabase& async_db, DeliveryChanges& changes, const Clock& clock,
               Callback accepted, Callback shop_to_erase)
    : changes_(changes),
      clock_(clock),
      fulfilment_(changes),
      accepted_(std::move(accepted)),
      privacy_(async_db, changes, std::move(shop_to_erase)),
      batcher_(async_db,
               [this](Tx& tx, std::span<const IncomingOrder> orders, std::span<Acceptance> answers) {
                 accept_batch(tx, orders, answers);
               },
               {}, weigh,
               {.owner =
                    [](const IncomingOrder& order) {
                      return std::bit_cast<std::uint64_t>(order.integration->account.value);
                    },
                .cost = [](const Acceptance& answer) { return answer.cost; },
                .postponed = [](const Acceptance& answer) { return answer.put_off; }}) {}

Task<Expected<Accepted>> Intake::accept(Executor& executor, IncomingOrder order) {
  if (is_privacy_request(order.event.kind)) co_return co_await privacy_.accept(executor, std::move(order));
  order.fresh = domain::merge(std::nullopt, order.event).state;
  order.plan = plan_new_order(order.fresh, order.integration->rules);
  order.fresh_text = encode(order.fresh);
  order.fresh_summary = domain::summarise(order.fresh);
  if (!order.event.order_id.empty()) {
    order.event_id = order_event_id(order.integration->id, order.event.order_id);
  }
  auto accepted = co_await batcher_.add(executor, std::move(order));
  // Revocations at an order's end are work, too. An event without news queues a delivery whose news came while the
  // store was inactive.
  if (accepted && accepted->delivery && (!accepted->duplicate || accepted->queued)) accepted_();
  co_return accepted;
}

void Intake::accept_batch(Tx& tx, std::span<const IncomingOrder> orders, std::span<Acceptance> answers) {
  // Rows are locked in one order, whatever order the requests came in: two nodes cannot wait for each other.
  std::vector<std::size_t> sorted(orders.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t i) {
    return std::tuple(orders[i].integration->id, std::string_view(orders[i].event.order_id), i);
  });

  std::vector<IntegrationId> integrations;
  for (const std::size_t i : sorted) integrations.push_back(orders[i].integration->id);
  integrations.erase(std::ranges::unique(integrations).begin(), integrations.end());
  const auto found = integration_versions(tx, integrations);
  std::unordered_map<IntegrationId, std::int64_t> versions;
  for (std::size_t i = 0; i < integrations.size(); ++i) versions[integrations[i]] = found[i];
  std::erase_if(sorted, [&](std::size_t i) {
    const IntegrationId id = orders[i].integration->id;
    answers[i].stale_integration = versions[id] != orders[i].integration->version;
    return answers[i].stale_integration;
  });
  std::size_t cost = 0;
  // In the order of the queue, so that what is put off is not always the same merchant's: all orders and
  // customers are locked by now.
  auto known = accept_new(tx, orders, sorted, answers);
  std::ranges::sort(known);
  for (const std::size_t i : known) {
    answers[i].put_off = cost > kMostOfKnown;
    if (answers[i].put_off) continue;
    const Stopwatch watch(clock_);
    answers[i] = accept_known(tx, orders[i]);
    // The cost of the buyer's earlier files, and of other rows that the event touches, shows in the writer's
    // time.
    answers[i].cost =
        std::max(answers[i].cost, static_cast<std::size_t>(watch.elapsed().count()) * kBytesOfMillisecond);
    cost += answers[i].cost;
  }
  std::erase_if(sorted, [&](std::size_t i) { return answers[i].put_off; });
  for (const std::size_t i : sorted) tx.news().orders.push_back(news_of(*orders[i].integration, answers[i]));

  std::map<ApiKeyId, std::pair<std::int64_t, std::int64_t>> usage;
  for (const std::size_t i : sorted) {
    const auto& integration = *orders[i].integration;
    // The request of a direct delivery has been counted as it was admitted.
    const std::int64_t webhooks = orders[i].asked_by ? 0 : 1;
    if (webhooks > 0)
      count_activity(tx, {integration.account, integration.id, orders[i].key}, storage::Activity::requests,
                     webhooks, tx.now());
    if (!orders[i].key) continue;
    auto& [requests, deliveries] = usage[orders[i].key];
    requests += webhooks;
    deliveries += answers[i].counts ? 1 : 0;
  }
  for (const auto& [key, counts] : usage) count_api_key_webhook(tx, key, counts.first, counts.second);
}

// Locks the rows that were there before the batch: its known orders, and then the customers of the deliveries
// of these and of its new orders. `inserted` has one element for each event in `which` that belongs to one
// order: whether that order is new.
void Intake::hold_rows(DeliverySet& set, std::span<const IncomingOrder> orders,
                       const std::vector<std::size_t>& which, const std::vector<bool>& inserted) {
  std::vector<storage::OrderKey> keys;
  std::vector<storage::Buyer> buyers;
  std::size_t n = 0;
  for (const std::size_t i : which) {
    const auto& event = orders[i].event;
    const IntegrationId id = orders[i].integration->id;
    if (!concerns_one_order(event)) continue;
    const bool is_new = inserted[n++];
    if (!is_new) keys.push_back({id, event.order_id});
    if (is_new && orders[i].plan.outcome == OrderOutcome::delivery)
      buyers.push_back(
          {set.standing(orders[i].integration->account).cloud_account, orders[i].fresh.username, {}});
  }
  std::ranges::sort(keys, {}, [](const auto& key) { return std::tuple(key.integration, key.order_key); });
  std::vector<DeliveryId> deliveries;
  for (const auto order : hold_orders(set.tx(), keys)) deliveries.push_back(DeliveryId{order.value});
  hold_customers_of(set.tx(), deliveries, buyers);
}

std::vector<std::size_t> Intake::accept_new(Tx& tx, std::span<const IncomingOrder> orders,
                                            const std::vector<std::size_t>& which,
                                            std::span<Acceptance> answers) {
  std::vector<storage::OrderRow> rows;
  std::vector<std::size_t> of_row;
  std::vector<std::size_t> of_no_order;
  for (const std::size_t i : which) {
    const auto& event = orders[i].event;
    const auto& integration = *orders[i].integration;
    if (!concerns_one_order(event)) {
      of_no_order.push_back(i);
      continue;
    }
    // The id is proposed: where the dedupe key is taken, the order is there under another one.
    rows.push_back({.id = changes_.ids().make<OrderId>(),
                    .account = integration.account,
                    .integration = integration.id,
                    .order_key = event.order_id,
                    .outcome = orders[i].plan.outcome,
                    .state = orders[i].fresh_text,
                    .unmapped = orders[i].plan.unmapped,
                    .received_at = tx.now(),
                    .updated_at = tx.now(),
                    .summary = orders[i].fresh_summary});
    of_row.push_back(i);
  }

  const auto inserted = insert_orders(tx, rows);
  DeliverySet set(tx, changes_);
  std::vector<AccountId> accounts;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (inserted[n]) accounts.push_back(rows[n].account);
  }
  std::ranges::sort(accounts);
  set.read_standings(accounts);
  if (tx.others_write()) hold_rows(set, orders, which, inserted);
  // Where one is in trouble it is locked: by rising id.
  for (const auto account : accounts) set.cause(account);
  NewDeliveries created;
  std::vector<std::size_t> of_delivery;
  std::vector<std::size_t> others;
  std::vector<storage::PayloadRow> payloads;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::size_t i = of_row[n];
    const auto& order = orders[i];
    if (!inserted[n]) {
      others.push_back(i);
      continue;
    }
    // Only the text of an order itself is kept: a reprocessing reads it again.
    if (order.event.kind == OrderEvent::Kind::order)
      payloads.push_back({rows[n].id, tx.now(), order.payload});
    answers[i].order = rows[n].id;
    answers[i].first_seen = order.event.kind == OrderEvent::Kind::order;
    answers[i].order_id = order.event.order_id;
    answers[i].event_id = order.event_id;
    if (order.plan.unmapped > 0)
      created.unmapped.push_back({changes_.ids().make<EventId>(), rows[n], order.fresh,
                                  is_dry_run(order.fresh, order.integration->rules)});
    if (order.plan.outcome == OrderOutcome::delivery) {
      fulfilment_.plan_delivery(set, created, rows[n], order.fresh, order.integration->rules, order.plan,
                                order.key);
      of_delivery.push_back(i);
    } else {
      answers[i].reason = reason_for(order.plan.outcome);
    }
  }
  insert_order_payloads(tx, payloads);
  fulfilment_.create(set, created);
  for (std::size_t n = 0; n < of_delivery.size(); ++n) {
    auto& answer = answers[of_delivery[n]];
    set_delivery(answer, created.rows[n]);
    answer.made_delivery = true;
    answer.counts = !created.rows[n].dry_run;
    answer.cost = weigh(orders[of_delivery[n]]) + receivers_of(created.rows[n], set) * kRow;
    if (const auto& by = orders[of_delivery[n]].asked_by)
      set.add_timeline_entry(created.rows[n], *by, "The delivery was asked for.");
  }
  set.save();
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto& by = orders[of_row[n]].asked_by;
    if (by && inserted[n])
      insert_audit(tx, changes_.ids(),
                   {rows[n].account, to_string(*by), "delivery.asked_for", to_string(rows[n].id), ""});
  }
  std::ranges::copy(of_no_order, std::back_inserter(others));
  return others;
}

Acceptance Intake::accept_known(Tx& tx, const IncomingOrder& incoming) {
  const auto& event = incoming.event;
  const IntegrationSnapshot& integration = *incoming.integration;
  Acceptance answer;
  answer.order_id = event.order_id;
  answer.event_id = incoming.event_id;
  switch (event.kind) {
    case OrderEvent::Kind::ignored_topic:
      answer.reason = "ignored_topic";
      return answer;
    case OrderEvent::Kind::customer_redact:
    case OrderEvent::Kind::shop_redact:
    case OrderEvent::Kind::data_request:  // not intake's: PrivacyRequests
    case OrderEvent::Kind::order:
    case OrderEvent::Kind::refund:
    case OrderEvent::Kind::stop:
    case OrderEvent::Kind::risk:
      break;
  }

  auto order = lock_order_by_key(tx, integration.id, event.order_id).value();
  answer.order = order.id;
  answer.cost = weigh(incoming) + 2 * order.state.size();
  auto state = state_of(order);
  mapped_before(order, state);
  auto merged = domain::merge(state, event);
  answer.duplicate = !merged.change.news();
  answer.first_seen = merged.change.first_seen;
  std::optional<storage::DeliveryRow> delivery;
  if (merged.change.any()) {
    const bool had_delivery = order.outcome == OrderOutcome::delivery;
    DeliverySet set(tx, changes_);
    const auto* const before = set.delivery(DeliveryId{order.id.value});
    const bool was_queued = before != nullptr && before->status == domain::DeliveryStatus::queued;
    auto& merged_order = set.adopt(order, merged.state);
    delivery = fulfilment_.fulfil(set, merged_order, integration.rules, event, merged.change, incoming.key);
    answer.made_delivery = delivery && !had_delivery;
    answer.counts = answer.made_delivery && !delivery->dry_run;
    answer.duplicate = answer.duplicate && !answer.made_delivery;
    answer.queued = delivery && delivery->status == domain::DeliveryStatus::queued && !was_queued;
    set.save();
    if (delivery) {
      replace_delivery_key(tx, order.account, delivery->id, storage::KeyOf::number, order.summary.number,
                           merged.state.order_number);
    }
    changes_.report_unmapped(set, merged_order.row, state.lines, merged_order.state,
                             is_dry_run(merged.state, integration.rules));
    order.outcome = merged_order.row.outcome;
    if (!merged.state.erased && is_newest_of_order(event, merged.state))
      put_order_payload(tx, order.id, tx.now(), incoming.payload);
    if (delivery) answer.cost += receivers_of(*delivery, set) * kRow;
  } else {
    delivery = find_delivery(tx, DeliveryId{order.id.value});
  }
  if (delivery) {
    set_delivery(answer, *delivery);
  } else {
    answer.reason = reason_for(order.outcome);
  }
  return answer;
}

}  // namespace presetbridge::services
