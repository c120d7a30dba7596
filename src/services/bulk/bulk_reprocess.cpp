#include "services/bulk/bulk_reprocess.h"

#include <boost/json.hpp>
#include <utility>

#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using identity::IntegrationScope;
using storage::BulkJobRow;
using storage::OrderFilter;
using storage::Tx;

// Milliseconds; null: no bound.
json::value time_value(const std::optional<Timestamp>& time) {
  if (!time) return nullptr;
  return to_unix_ms(*time);
}
std::optional<Timestamp> time_of(const json::value& value) {
  return value.is_null() ? std::nullopt : std::optional(from_unix_ms(value.as_int64()));
}

// Empty: the filter has none.
std::optional<domain::OrderOutcome> outcome_of(std::string_view stored) {
  if (stored.empty()) return std::nullopt;
  return domain::read_order_outcome(stored);
}

std::string encode(const OrderFilter& f) {
  return json::serialize(json::object{{"outcome", f.outcome ? to_string(*f.outcome) : std::string_view("")},
                                      {"integration", f.integration.value},
                                      {"unmapped", f.unmapped},
                                      {"search", static_cast<std::int64_t>(f.search.kind)},
                                      {"text", f.search.text},
                                      {"from", time_value(f.received_from)},
                                      {"before", time_value(f.received_before)}});
}

OrderFilter filter_of(const BulkJobRow& job) {
  const auto value = json::parse(job.filter);
  const auto& o = value.as_object();
  return {.account = job.account,
          .outcome = outcome_of(o.at("outcome").as_string()),
          .integration = IntegrationId{o.at("integration").as_int64()},
          .unmapped = o.at("unmapped").as_bool(),
          .search = {static_cast<storage::OrderSearch::Kind>(o.at("search").as_int64()),
                     std::string(o.at("text").as_string())},
          .received_from = time_of(o.at("from")),
          .received_before = time_of(o.at("before"))};
}

}  // namespace

Task<Expected<ReprocessPlan>> BulkReprocess::ask(Executor& executor, identity::Principal by, OrderQuery query,
                                                 bool dry_run) {
  OrderFilter filter{.account = by.account,
                     .outcome = query.outcome,
                     .integration = query.integration,
                     .unmapped = query.unmapped,
                     .received_from = query.received_from,
                     .received_before = query.received_before};
  NewBulkJob wanted{.action = name(), .filter = {}, .as_of = {}};
  auto counted = co_await async_db_.read(executor, [&](Tx& tx) {
    filter.search = read_search(tx, by.account, query.search);
    // Ids of this millisecond are of orders that are there already.
    wanted.as_of = tx.now() + Millis{1};
    return count_orders(tx, filter, wanted.as_of,
                        [&](const storage::ListedOrder& order) { return by.sees(order.integration); });
  });
  if (!counted) co_return std::unexpected(counted.error());
  ReprocessPlan plan{*counted, {}};
  if (dry_run) co_return plan;
  wanted.filter = encode(filter);
  wanted.total = counted->orders;
  wanted.total_is_exact = counted->exact;
  auto job = co_await jobs_.add(executor, std::move(by), std::move(wanted));
  if (!job) co_return std::unexpected(job.error());
  plan.job = std::move(*job);
  co_return plan;
}

BulkAction::Found BulkReprocess::find(Tx& tx, const BulkJobRow& job, int limit) const {
  const auto scope = IntegrationScope::from_text(job.integration_ids);
  const auto walk =
      walk_orders(tx, filter_of(job), OrderId{job.done_to}, job.as_of, limit,
                  [&](const storage::ListedOrder& order) { return scope.includes(order.integration); });
  Found found;
  for (const auto id : walk.orders) found.ids.push_back(id.value);
  if (walk.next) found.next = walk.next->value;
  return found;
}

Task<Expected<BulkAction::Do>> BulkReprocess::prepare(Executor& executor, const BulkJobRow& job,
                                                      std::int64_t id) {
  const OrderId order{id};
  auto integration = co_await async_db_.read(executor, [order](Tx& tx) -> Expected<IntegrationId> {
    const auto found = find_order_integration(tx, order);
    if (!found) return fail("NOT_FOUND", "There is no such order.");
    return *found;
  });
  if (!integration) co_return std::unexpected(integration.error());
  auto store = co_await directory_.find(executor, *integration);
  if (!store) co_return std::unexpected(store.error());
  if (!*store) co_return fail("INVALID_TRANSITION", "The store is archived.");
  const auto actor = domain::parse_actor(job.actor);
  if (!actor) co_return fail("INTERNAL_ERROR", "The job does not say who asked for it.");
  const ApiKeyId key = actor->kind == domain::Actor::Kind::api_key ? ApiKeyId{actor->id} : ApiKeyId{};
  co_return Do([this, order, store = *store, asked = ReprocessedFor{*actor, key}](Tx& tx) {
    auto done = reprocess_in(tx, changes_, order, *store, asked);
    if (!done) directory_.forget(store->id);
    return done;
  });
}

}  // namespace presetbridge::services
