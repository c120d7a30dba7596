#include "api/handlers/overview_handlers.h"

#include <charconv>

#include "api/delivery_json.h"
#include "api/optional_json.h"
#include "api/query_fields.h"
#include "api/zone_field.h"

namespace presetbridge::api {
namespace {

using services::Overview;

constexpr std::size_t kLongestSearch = 100;
constexpr int kMostFound = 20;
constexpr int kUsuallyFound = 5;

json::object to_json(const services::Need& need) {
  return {{"kind", services::kNeedKindNames[static_cast<std::size_t>(need.kind)]},
          {"code", text_or_null(need.code)},
          {"count", need.count},
          {"oldestAt", time_or_null(need.oldest_at)},
          {"integrationId", id_or_null(need.integration)},
          {"subscriptionId", id_or_null(need.subscription)},
          {"detail", text_or_null(need.detail)}};
}

json::value to_json(const Overview::Limit& limit) {
  json::value paused = nullptr;
  if (!limit.paused_reason.empty())
    paused = json::object{{"reason", limit.paused_reason}, {"until", time_or_null(limit.paused_until)}};
  return json::object{{"perMinute", number_or_null(limit.per_minute)},
                      {"usedLast60s", limit.used_last_60s},
                      {"nextStartAt", time_or_null(limit.next_start_at)},
                      {"paused", std::move(paused)}};
}

json::object to_json(const services::StoreGlance& store) {
  return {{"integrationId", to_string(store.id)},
          {"name", store.name},
          {"lastOrderAt", time_or_null(store.last_order_at)},
          {"failed", store.failed},
          {"waiting", store.waiting},
          {"unmappedProducts", store.unmapped_products}};
}

json::object to_json(const Overview& o) {
  json::array needs;
  for (const auto& need : o.needs) needs.push_back(to_json(need));
  json::array recent;
  for (const auto& summary : o.recent) recent.push_back(summary_json(summary));
  json::array stores;
  for (const auto& store : o.stores) stores.push_back(to_json(store));
  return {{"asOf", to_iso8601(o.as_of)},
          {"needs", std::move(needs)},
          {"today", json::object{{"completed", o.today.completed},
                                 {"failed", o.today.failed},
                                 {"usualCompleted", number_or_null(o.today.usual_completed)},
                                 {"usualFailed", number_or_null(o.today.usual_failed)}}},
          {"now", json::object{{"queued", o.now.queued},
                               {"processing", o.now.processing},
                               {"waiting", o.now.waiting},
                               {"inReview", o.now.in_review},
                               {"oldestWaitingAt", time_or_null(o.now.oldest_waiting_at)}}},
          {"limit", to_json(o.limit)},
          {"credits", json::object{{"available", o.credits.available},
                                   {"held", o.credits.held},
                                   {"perDay", hundredths_json(o.credits.per_day_hundredths)},
                                   {"runsOutAt", time_or_null(o.credits.runs_out_at)}}},
          {"setup", json::object{{"cloud", o.setup.cloud},
                                 {"store", o.setup.store},
                                 {"firstOrder", o.setup.first_order},
                                 {"mapping", o.setup.mapping},
                                 {"testOrder", o.setup.test_order},
                                 {"firstDelivery", o.setup.first_delivery}}},
          {"recent", std::move(recent)},
          {"stores", std::move(stores)}};
}

Task<Reply> overview(OverviewDeps deps, Call call) {
  QueryFields query(call);
  const auto zone = read_zone(query);
  const auto store = query.optional_id<IntegrationId>("integrationId");
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.overviews.get(call.executor(), call.principal, zone, store);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(*found));
}

int read_limit(QueryFields& query, const Call& call) {
  const auto text = call.query_value("limit");
  if (!text) return kUsuallyFound;
  int limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc{} || end != text->data() + text->size() || limit < 1 || limit > kMostFound)
    query.problem("limit", "must be a number from 1 to 20");
  return limit;
}

Task<Reply> search(OverviewDeps deps, Call call) {
  QueryFields query(call);
  const auto text = query.optional_text("q", kLongestSearch);
  const int limit = read_limit(query, call);
  if (auto error = query.problems()) co_return std::unexpected(*error);
  if (!text) co_return json_response(200, json::object{{"groups", json::array()}});
  const auto found = co_await deps.search.find(call.executor(), call.principal, *text, limit);
  if (!found) co_return std::unexpected(found.error());
  json::array groups;
  for (const auto& group : *found) {
    json::array items;
    for (const auto& item : group.items)
      items.push_back(json::object{{"id", item.id},
                                   {"title", item.title},
                                   {"subtitle", text_or_null(item.subtitle)},
                                   {"status", text_or_null(item.status)},
                                   {"deliveryStatus", text_or_null(item.delivery_status)}});
    groups.push_back(json::object{{"kind", group.kind}, {"items", std::move(items)}});
  }
  co_return json_response(200, json::object{{"groups", std::move(groups)}});
}

}  // namespace

void add_overview_routes(Router& router, OverviewDeps deps) {
  router.add("GET", "/api/overview", Access::needs(Permission::account), with(deps, overview));
  router.add("GET", "/api/search", Access::needs(Permission::deliveries_read), with(deps, search));
}

}  // namespace presetbridge::api
