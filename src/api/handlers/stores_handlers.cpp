#include "api/handlers/stores_handlers.h"

#include <fmt/format.h>

#include "api/json_body.h"
#include "api/mapping_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "domain/username.h"

namespace presetbridge::api {
namespace {

constexpr std::size_t kMaxQuery = 200;  // characters of a search
constexpr std::size_t kMaxLines = 250;  // of an order in a preview (spec 2.14)
constexpr TextRule kOrderId{.max = 255};
constexpr TextRule kIdentifier{.min = 0, .max = 255};
constexpr std::size_t kIdentifierBytes = 255;  // the most that a store may send
constexpr TextRule kTitle{.min = 0, .max = 200};
constexpr TextRule kUsername{.max = 200};

json::object names_of(const domain::OrderLine& line) {
  return {{"title", text_or_null(line.title)},
          {"sku", text_or_null(line.sku)},
          {"productId", text_or_null(line.product_id)},
          {"variantId", text_or_null(line.variant_id)}};
}

json::object to_json(const services::ProductView& view) {
  const auto& row = view.row;
  json::value mapped_by = nullptr;
  if (!view.mapped_by.empty()) {
    json::array mappings;
    json::array files;
    for (const auto& mapping : view.mapped_by) {
      mappings.push_back(json::string(to_string(mapping.id)));
      if (!mapping.file_id.empty()) files.push_back(json::string(mapping.file_id));
    }
    mapped_by = json::object{{"matchType", domain::to_string(view.mapped_by.front().type)},
                             {"mappingIds", std::move(mappings)},
                             {"fileIds", std::move(files)}};
  }
  return {{"title", text_or_null(row.title)},
          {"sku", text_or_null(row.sku)},
          {"productId", text_or_null(row.product_id)},
          {"variantId", text_or_null(row.variant_id)},
          {"soldCount", row.sold},
          {"firstSeenAt", to_iso8601(row.first_seen_at)},
          {"lastSeenAt", to_iso8601(row.last_seen_at)},
          {"skippedOrders", view.skipped_orders},
          {"mappedBy", std::move(mapped_by)}};
}

Task<Reply> list_products(StoresDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  services::ProductFilter filter;
  QueryFields fields(call);
  const auto page = fields.page();
  filter.mapped = fields.optional_flag("mapped");
  filter.text = fields.optional_search("q", kMaxQuery).value_or("");
  if (auto error = fields.problems()) co_return std::unexpected(*error);
  auto found = co_await deps.products.list(call.executor(), call.principal, *id, std::move(filter), page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(found->page, [&](const services::ProductView& view) {
    auto product = to_json(view);
    product["skippedOrdersExact"] = found->skipped_exact;
    return product;
  });
}

// A line of an order that the request describes, for a preview or a test order.
domain::OrderLine read_line(JsonFields& fields) {
  domain::OrderLine line;
  line.title = fields.optional_text("title", kTitle).value_or("");
  line.sku = fields.optional_text("sku", kIdentifier).value_or("");
  line.product_id = fields.optional_text("productId", kIdentifier).value_or("");
  line.variant_id = fields.optional_text("variantId", kIdentifier).value_or("");
  line.quantity = fields.optional_integer("quantity", 1, domain::kMaxQuantity).value_or(1);
  return line;
}

json::object to_json(const services::PreviewLine& shown) {
  auto line = names_of(shown.line);
  line["lineId"] = shown.line.line_id;
  line["quantity"] = shown.line.quantity;
  line["paidQuantity"] = shown.paid_quantity;
  line["outcome"] = shown.line.mapped == domain::OrderLine::Mapped::owes      ? "delivers"
                    : shown.line.mapped == domain::OrderLine::Mapped::ignored ? "ignored"
                                                                              : "unmapped";
  line["matchedBy"] =
      shown.matched_by ? json::value(domain::to_string(*shown.matched_by)) : json::value(nullptr);
  line["fileIds"] = json::array(shown.file_ids.begin(), shown.file_ids.end());
  return line;
}
json::object to_json(const domain::OwedFile& file) {
  return {{"fileId", file.file_id},
          {"kind", file.kind},
          {"fileName", file.name},
          {"matchedBy", domain::matched_by(file)},
          {"lineIds", json::array(file.line_ids.begin(), file.line_ids.end())},
          {"quantity", file.quantity},
          {"paidQuantity", file.paid_quantity}};
}

Task<Reply> preview(StoresDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::PreviewRequest wanted;
  wanted.order_id = fields.optional_text("orderId", kOrderId);
  if (fields.has("order")) {
    auto order = fields.object("order");
    if (!order.has("items")) order.problem("items", "is required");
    for (auto& item : order.objects("items", kMaxLines)) {
      wanted.lines.push_back(read_line(item));
      wanted.lines.back().line_id = "#" + std::to_string(wanted.lines.size());
    }
    if (wanted.order_id) fields.problem("order", "must be left out beside orderId");
  }
  if (fields.has("mappings")) wanted.mappings = read_mappings(fields, deps.previews.limits());
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto shown = co_await deps.previews.preview(call.executor(), call.principal, *id, std::move(wanted));
  if (!shown) co_return std::unexpected(shown.error());
  json::array lines;
  for (const auto& line : shown->lines) lines.push_back(to_json(line));
  json::array files;
  for (const auto& file : shown->files) files.push_back(to_json(file));
  co_return json_response(200, json::object{{"outcome", to_string(shown->outcome)},
                                            {"tooLarge", shown->too_large},
                                            {"lines", std::move(lines)},
                                            {"files", std::move(files)},
                                            {"credits", shown->credits},
                                            {"reprocessableOrders", shown->reprocessable_orders},
                                            {"reprocessableOrdersExact", shown->reprocessable_exact},
                                            {"reprocessableCredits", shown->reprocessable_credits}});
}

Task<Reply> send_test_order(StoresDeps deps, Call call) {
  const auto id = call.id<IntegrationId>("integration");
  if (!id) co_return std::unexpected(id.error());
  auto body = JsonBody::parse_optional(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::TestOrderWish wish;
  wish.username = fields.optional_text("targetUsername", kUsername);
  if (wish.username && domain::normalise_username(*wish.username).empty())
    fields.problem("targetUsername", "is not a username");
  if (fields.has("item")) {
    auto item = fields.object("item");
    wish.line = read_line(item);
    const auto check_bytes = [&](std::string_view name, const std::string& text) {
      if (text.size() > kIdentifierBytes)
        item.problem(name, fmt::format("is longer than {} bytes", kIdentifierBytes));
    };
    check_bytes("sku", wish.line->sku);
    check_bytes("productId", wish.line->product_id);
    check_bytes("variantId", wish.line->variant_id);
    if (wish.line->title.empty() && wish.line->sku.empty() && wish.line->product_id.empty() &&
        wish.line->variant_id.empty())
      fields.problem("item", "must have a sku, productId, variantId or title");
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto order = co_await deps.test_orders.make(call.executor(), call.principal, *id, std::move(wish));
  if (!order) co_return std::unexpected(order.error());
  net::Headers headers;
  for (auto& [name, value] : order->headers) headers.add(std::move(name), std::move(value));
  co_return webhook_reply(co_await deps.reception.receive(
      call.executor(), {.profile = providers::profile_of(order->provider),
                        .integration = *id,
                        .headers = [&](std::string_view name) { return headers.all(name); },
                        .body = order->body,
                        .trial = true}));
}

}  // namespace

void add_stores_routes(Router& router, const StoresDeps& deps) {
  const auto access = Access::needs(Permission::integrations);
  const std::string store = "/api/integrations/{integration}";
  router.add("GET", store + "/products", access, with(deps, list_products));
  router.add("POST", store + "/mappings/preview", access, with(deps, preview));
  router.add("POST", store + "/test-order", access, with(deps, send_test_order));
}

}  // namespace presetbridge::api
