#include "api/handlers/customers_handlers.h"

#include <utility>

#include "api/delivery_json.h"
#include "api/handlers/bulk_handlers.h"
#include "api/json_body.h"
#include "api/page.h"
#include "domain/mapping.h"
#include "domain/username.h"

namespace presetbridge::api {
namespace {

constexpr int kUsualPage = 10;
// An answer ends after so much; an order's state and payload may each be as large as a body.
constexpr std::size_t kMostBytes = 4U << 20U;
constexpr int kTimelinePages = 10;

// One of the two, whole.
storage::CustomerName read_name(JsonFields& fields) {
  fields.refuse_null({"email", "username"});
  storage::CustomerName who{fields.optional_text("email", {.max = 320}).value_or(""),
                            fields.optional_text("username", {.max = 500}).value_or("")};
  if (fields.has("email") == fields.has("username"))
    fields.problem("email", "or a username is needed, and not both");
  if (!who.username.empty()) {
    who.username = domain::normalise_username(who.username);
    if (who.username.empty()) fields.problem("username", "is not a username");
  }
  // Names are compared without white space at their ends, HTML's too.
  for (const auto& [field, name] : {std::pair("email", &who.email), std::pair("username", &who.username)}) {
    if (!name->empty() && domain::normalise_match_value(domain::MatchType::title, *name).empty())
      fields.problem(field, "is empty, and would match nothing");
  }
  return who;
}

struct Timeline {
  json::array entries;
  std::optional<std::int64_t> next;
};
// The newest thousand entries.
Task<Expected<Timeline>> timeline_of(CustomersDeps deps, Executor& executor, identity::Principal by,
                                     DeliveryId id) {
  Timeline timeline;
  storage::PageRequest page{.limit = kMaxLimit};
  for (int i = 0; i < kTimelinePages; ++i) {
    const auto found = co_await deps.deliveries.deliveries.timeline(executor, by, id, page);
    if (!found) co_return std::unexpected(found.error());
    for (const auto& entry : found->rows) timeline.entries.push_back(entry_json(entry));
    timeline.next = found->next;
    if (!found->next) break;
    page.before = *found->next;
  }
  co_return timeline;
}

// All that is kept of the order.
Task<Expected<json::object>> export_of(CustomersDeps deps, Executor& executor, identity::Principal by,
                                       OrderId id) {
  const auto order = co_await deps.orders.orders.get(executor, by, id);
  if (!order) co_return std::unexpected(order.error());
  json::object all{{"order", order_json(deps.orders, *order)}, {"payload", nullptr}, {"delivery", nullptr}};
  if (order->payload_received_at) {
    auto payload = co_await deps.orders.orders.payload(executor, by, id);
    if (!payload && payload.error().code != "NOT_FOUND") co_return std::unexpected(payload.error());
    if (payload) all["payload"] = std::move(payload->body);
  }
  if (!order->delivery) co_return all;
  const DeliveryId delivery{id.value};
  const auto view = co_await deps.deliveries.deliveries.get(executor, by, delivery);
  if (!view) co_return std::unexpected(view.error());
  auto shown = delivery_json(deps.deliveries, *view);
  auto timeline = co_await timeline_of(deps, executor, by, delivery);
  if (!timeline) co_return std::unexpected(timeline.error());
  shown["timeline"] = std::move(timeline->entries);
  shown["timelineNextCursor"] = timeline->next ? json::value(cursor_text(*timeline->next)) : nullptr;
  all["delivery"] = std::move(shown);
  co_return all;
}

Task<Reply> export_customer(CustomersDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto who = read_name(fields);
  const auto limit = fields.optional_integer("limit", 1, services::kCustomerPage).value_or(kUsualPage);
  const auto cursor = fields.optional_text("cursor", {.max = 40, .exact = true});
  const auto after = cursor ? parse_id(kCursorPrefix, *cursor) : std::optional<std::int64_t>(0);
  if (!after) fields.problem("cursor", "is not a cursor of a page before");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto walk = co_await deps.customers.find(call.executor(), call.principal, std::move(who), OrderId{*after},
                                           static_cast<int>(limit));
  if (!walk) co_return std::unexpected(walk.error());
  json::array data;
  std::size_t bytes = 0;
  for (const auto id : walk->orders) {
    if (bytes > kMostBytes) {
      walk->next = OrderId{id.value - 1};
      break;
    }
    auto one = co_await export_of(deps, call.executor(), call.principal, id);
    if (!one) co_return std::unexpected(one.error());
    bytes += json::serialize(*one).size();
    data.push_back(std::move(*one));
  }
  auto response =
      page_response(std::move(data), walk->next ? std::optional(walk->next->value) : std::nullopt);
  response.headers.add("Cache-Control", "no-store");
  co_return response;
}

Task<Reply> erase(CustomersDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto who = read_name(fields);
  const bool dry_run = fields.optional_flag("dryRun").value_or(false);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto plan = co_await deps.customers.erase(call.executor(), call.principal, std::move(who), dry_run);
  if (!plan) co_return std::unexpected(plan.error());
  if (dry_run)
    co_return json_response(200,
                            json::object{{"total", plan->count.orders}, {"totalIsExact", plan->count.exact}});
  co_return json_response(202, bulk_json(plan->job));
}

}  // namespace

void add_customers_routes(Router& router, CustomersDeps deps) {
  const auto owners = Access::needs(Permission::owner);
  router.add("POST", "/api/customers/export", owners, with(deps, export_customer));
  router.add("POST", "/api/customers/erase", owners, with(deps, erase));
}

}  // namespace presetbridge::api
