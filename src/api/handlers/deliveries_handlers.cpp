#include "api/handlers/deliveries_handlers.h"

#include <algorithm>
#include <array>

#include "api/delivery_json.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "domain/username.h"

namespace presetbridge::api {
namespace {

using domain::DeliveryStatus;
using services::DeliveryView;

constexpr std::size_t kLongestOrderId = 255;  // longer ones are not accepted from stores
constexpr std::size_t kLongestSearch = 100;
constexpr std::size_t kLongestFileId = 200;
constexpr std::size_t kMostValues = 50;  // values of one parameter
constexpr std::array<std::string_view, 2> kOrders = {"-createdAt",
                                                     "createdAt"};  // newest first, oldest first
constexpr int kMostRowsOfCsv = 10'000;
constexpr int kRowsAtOnce = 500;

// Failed ones, and those in review.
bool needs_attention(DeliveryStatus status) {
  return status == DeliveryStatus::failed || status == DeliveryStatus::in_review;
}

// Statuses that are asked for twice: by name, and by whether they need somebody. False: none is both.
bool narrow(std::vector<DeliveryStatus>& statuses, bool attention) {
  if (statuses.empty()) {
    for (std::size_t i = 0; i < domain::kDeliveryStatusNames.size(); ++i)
      statuses.push_back(static_cast<DeliveryStatus>(i));
  }
  std::erase_if(statuses, [&](DeliveryStatus status) { return needs_attention(status) != attention; });
  return !statuses.empty();
}

struct ListRequest {
  storage::DeliveryFilter filter;
  bool count = false;
  bool nothing = false;  // no delivery can be so
};

Expected<ListRequest> list_request(const Call& call) {
  QueryFields query(call);
  ListRequest request;
  auto& f = request.filter;
  f.page = query.page();
  f.statuses = query.several<DeliveryStatus>("status", kMostValues, domain::parse_delivery_status,
                                             "a status of deliveries");
  const auto code = [](std::string_view text) {
    return text.empty() ? std::nullopt : domain::parse_resolution_code(text);
  };
  f.codes = query.several<domain::ResolutionCode>("resolutionCode", kMostValues, code, "a resolution code");
  f.reviews = query.several<domain::ReviewReason>("reviewReason", kMostValues, domain::parse_review_reason,
                                                  "a reason of a review");
  auto stores = query.several<IntegrationId>("integrationId", kMostValues, parse_id<IntegrationKind>,
                                             "a valid id int_…");
  if (!stores.empty()) f.integrations = std::move(stores);
  f.order_key = query.optional_text("orderId", kLongestOrderId).value_or("");
  f.search = query.optional_search("q", kLongestSearch).value_or("");
  f.file_id = query.optional_text("fileId", kLongestFileId).value_or("");
  f.dry_run = query.optional_flag("dryRun");
  f.refunded = query.optional_flag("refunded");
  f.created_from = query.optional_time("createdFrom");
  f.created_to = query.optional_time("createdTo");
  f.updated_from = query.optional_time("updatedFrom");
  f.updated_to = query.optional_time("updatedTo");
  request.count = query.optional_flag("count").value_or(false);
  const auto attention = query.optional_flag("needsAttention");
  f.oldest_first = query.optional_choice("sort", kOrders) == "createdAt";
  if (auto error = query.problems()) return std::unexpected(*error);
  if (attention) request.nothing = !narrow(f.statuses, *attention);
  return request;
}

bool wants_csv(const Call& call) {
  const auto accept = call.request.headers.get("Accept");
  return accept && accept->starts_with("text/csv");
}

// At most kMostRowsOfCsv; where there are more, X-Next-Cursor names where to go on. Read in batches, so that
// nothing else waits for all of them.
Task<Reply> csv(DeliveriesDeps deps, Call call, ListRequest request) {
  net::HttpResponse response;
  response.content_type = "text/csv; charset=utf-8";
  response.headers.add("Content-Disposition", "attachment; filename=\"deliveries.csv\"");
  response.body = csv_head();
  request.filter.page.limit = kRowsAtOnce;
  int rows = 0;
  // A batch may be empty and have a next one: their number is bounded too.
  for (int batches = 0; !request.nothing; ++batches) {
    const auto found = co_await deps.deliveries.list(call.executor(), call.principal, request.filter);
    if (!found) co_return std::unexpected(found.error());
    for (const auto& summary : found->rows) response.body += csv_line(summary);
    rows += static_cast<int>(found->rows.size());
    if (!found->next) break;
    request.filter.page.before = *found->next;
    if (rows + kRowsAtOnce > kMostRowsOfCsv || batches >= 2 * kMostRowsOfCsv / kRowsAtOnce) {
      response.headers.add("X-Next-Cursor", format_id(kCursorPrefix, *found->next));
      break;
    }
  }
  co_return response;
}

Task<Reply> list(DeliveriesDeps deps, Call call) {
  auto request = list_request(call);
  if (!request) co_return std::unexpected(request.error());
  if (wants_csv(call)) co_return co_await csv(deps, std::move(call), std::move(*request));
  json::object body{{"data", json::array()}, {"nextCursor", nullptr}};
  storage::DeliveryCount counted;
  if (request->count && !request->nothing) {
    const auto all = co_await deps.deliveries.count(call.executor(), call.principal, request->filter);
    if (!all) co_return std::unexpected(all.error());
    counted = *all;
    // A search that found nothing is not repeated.
    request->nothing = counted.exact && counted.count == 0;
  }
  if (!request->nothing) {
    const auto found = co_await deps.deliveries.list(call.executor(), call.principal, request->filter);
    if (!found) co_return std::unexpected(found.error());
    auto& data = body["data"].as_array();
    for (const auto& summary : found->rows) data.push_back(summary_json(summary));
    if (found->next) body["nextCursor"] = format_id(kCursorPrefix, *found->next);
  }
  if (request->count) {
    body["count"] = counted.count;
    body["countIsExact"] = counted.exact;
  }
  co_return json_response(200, body);
}

// Done, or stored for the job that has the delivery (spec 3.3).
Reply answer(const DeliveriesDeps& deps, const Expected<DeliveryView>& view) {
  if (!view) return std::unexpected(view.error());
  return json_response(view->pending ? 202 : 200, delivery_json(deps, *view));
}

Task<Reply> show(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto view = co_await deps.deliveries.get(call.executor(), call.principal, *id);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, delivery_json(deps, *view));
}

Task<Reply> timeline(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  const auto found = co_await deps.deliveries.timeline(call.executor(), call.principal, *id, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, entry_json);
}

Task<Reply> renew_link(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  const auto view = co_await deps.deliveries.renew_link(call.executor(), call.principal, *id);
  if (!view) co_return std::unexpected(view.error());
  co_return json_response(200, json::object{{"buyerUrl", deps.links.url_of(deps.base_url, view->row)}});
}

Task<Reply> retry(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  std::optional<std::string> username;
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  if (const auto raw = fields.optional_text("targetUsername", {.max = 1'000})) {
    username = domain::normalise_username(*raw);
    if (username->empty()) fields.problem("targetUsername", "is not a username");
  }
  const bool keeps = fields.optional_flag("keepFriendRequest").value_or(false);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto request = keeps ? services::FriendRequest::keep : services::FriendRequest::renew;
  co_return answer(deps, co_await deps.deliveries.retry(call.executor(), call.principal, *id,
                                                        std::move(username), request));
}

Task<Reply> invalidate(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto reason = (*body)->text("reason", {.max = 500, .lines = true});
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return answer(
      deps, co_await deps.deliveries.invalidate(call.executor(), call.principal, *id, std::move(reason)));
}

Task<Reply> reopen(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(deps, co_await deps.deliveries.reopen(call.executor(), call.principal, *id));
}

Task<Reply> approve(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(deps, co_await deps.deliveries.approve(call.executor(), call.principal, *id));
}

Task<Reply> complete(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  co_return answer(deps, co_await deps.deliveries.complete(call.executor(), call.principal, *id));
}

Task<Reply> revoke(DeliveriesDeps deps, Call call) {
  const auto id = call.id<DeliveryId>("delivery");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  services::RevokeQuery which;
  auto& fields = **body;
  if (auto items = fields.optional_ids<ItemId>("itemIds", 500)) {
    which.items = std::move(*items);
    if (which.items.empty()) fields.problem("itemIds", "names no item");
  }
  if (const auto raw = fields.optional_text("username", {.max = 1'000})) {
    which.username = domain::normalise_username(*raw);
    if (which.username.empty()) fields.problem("username", "is not a username");
  }
  if (!which.items.empty() && !which.username.empty())
    fields.problem("username", "goes without itemIds: they name the items already");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto view = co_await deps.deliveries.revoke(call.executor(), call.principal, *id, std::move(which));
  if (!view) co_return std::unexpected(view.error());
  // The platform is asked later (spec 3.10).
  co_return json_response(202, delivery_json(deps, *view));
}

}  // namespace

json::object delivery_json(const DeliveriesDeps& deps, const DeliveryView& view) {
  return view_json(view, deps.links.url_of(deps.base_url, view.row));
}

void add_deliveries_routes(Router& router, DeliveriesDeps deps) {
  const auto read = Access::needs(Permission::deliveries_read);
  const auto write = Access::needs(Permission::deliveries_write);
  router.add("GET", "/api/deliveries", read, with(deps, list));
  router.add("GET", "/api/deliveries/{delivery}", read, with(deps, show));
  router.add("GET", "/api/deliveries/{delivery}/timeline", read, with(deps, timeline));
  router.add("POST", "/api/deliveries/{delivery}/buyer-link", write, with(deps, renew_link));
  router.add("POST", "/api/deliveries/{delivery}/retry", write, with(deps, retry));
  router.add("POST", "/api/deliveries/{delivery}/invalidate", write, with(deps, invalidate));
  router.add("POST", "/api/deliveries/{delivery}/reopen", write, with(deps, reopen));
  router.add("POST", "/api/deliveries/{delivery}/approve", write, with(deps, approve));
  router.add("POST", "/api/deliveries/{delivery}/complete", write, with(deps, complete));
  router.add("POST", "/api/deliveries/{delivery}/revoke", write, with(deps, revoke));
}

}  // namespace presetbridge::api
