#include "providers/provider_b/reader.h"

#include <algorithm>
#include <array>

#include "domain/username.h"
#include "providers/picked_json.h"
#include "providers/store_fields.h"

namespace presetbridge::providers::provider_b {
namespace {

using domain::OrderEvent;
using domain::Payment;

constexpr std::array kBillingMembers{ShapeMember{"email", &kScalar}};
constexpr Shape kBilling{.members = kBillingMembers};
constexpr std::array kMetaMembers{ShapeMember{"key", &kScalar}, ShapeMember{"value", &kScalar}};
constexpr Shape kMeta{.members = kMetaMembers};
constexpr Shape kMetaData{.element = &kMeta};
constexpr std::array kLineMembers{ShapeMember{"id", &kScalar},         ShapeMember{"sku", &kScalar},
                                  ShapeMember{"product_id", &kScalar}, ShapeMember{"variation_id", &kScalar},
                                  ShapeMember{"name", &kScalar},       ShapeMember{"quantity", &kScalar}};
constexpr Shape kLine{.members = kLineMembers};
constexpr Shape kLines{.element = &kLine};
constexpr std::array kRefundMembers{ShapeMember{"id", &kScalar}};
constexpr Shape kRefund{.members = kRefundMembers};
constexpr Shape kRefunds{.element = &kRefund};
constexpr std::array kOrderMembers{
    ShapeMember{"id", &kScalar},          ShapeMember{"order_key", &kScalar},
    ShapeMember{"billing", &kBilling},    ShapeMember{"status", &kScalar},
    ShapeMember{"meta_data", &kMetaData}, ShapeMember{"line_items", &kLines},
    ShapeMember{"refunds", &kRefunds},    ShapeMember{"date_modified_gmt", &kScalar}};
constexpr Shape kOrder{.members = kOrderMembers};

Payment payment_of(const PickedValue& order) {
  const auto status = keyword(order["status"]);
  if (status.empty() || status == "processing" || status == "completed") return Payment::deliver;
  if (status == "refunded") return Payment::refunded;
  if (status == "cancelled" || status == "failed" || status == "trash") return Payment::cancelled;
  return Payment::awaiting_payment;
}

void find_username(OrderEvent& event, const PickedValue& order, const ParseInput& input) {
  for (const auto& meta : order["meta_data"].elements()) {
    const std::string_view key = meta["key"].text;
    if (domain::same_field_name(key, "vendor_username") ||
        std::ranges::any_of(input.username_fields,
                            [&](const auto& name) { return domain::same_field_name(key, name); })) {
      offer_username(event, meta["value"], input.limits);
    }
  }
}

domain::OrderLine read_line(const PickedValue& line) {
  return {.line_id = identifier(line["id"]),
          .sku = identifier(line["sku"]),
          .product_id = nonzero_identifier(line["product_id"]),
          .variant_id = nonzero_identifier(line["variation_id"]),
          .title = free_text(line["name"]),
          .quantity = store_quantity(line["quantity"]),
          .current_quantity = std::nullopt};
}

Expected<OrderEvent> read_order(const ParseInput& input, bool deleted) {
  const auto picked = pick_json(input.body, kOrder, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());
  const auto& order = picked->root;
  OrderEvent event;
  event.order_id = nonzero_identifier(order["id"]);
  if (event.order_id.empty()) return no_order_id("id");
  event.test = input.test;
  if (deleted) {
    event.kind = OrderEvent::Kind::stop;
    event.payment = Payment::cancelled;
    return event;
  }
  event.order_number = identifier(order["order_key"]);
  event.email = email(order["billing"]["email"]);
  event.payment = payment_of(order);
  event.updated_at = timestamp(order["date_modified_gmt"]);
  find_username(event, order, input);
  read_lines(event, order["line_items"], input.limits.line_items, read_line);
  // The order tells of a refund only {id, reason, total}: which lines it was for stays unknown.
  for (const auto& refund : order["refunds"].elements())
    event.refunds.push_back({identifier(refund["id"]), {}});
  event.too_large |= picked->truncated;
  return event;
}

Expected<OrderEvent> read_topic(const ParseInput& input) {
  const auto topic = input.topic;
  if (topic.empty() || topic == "order.created" || topic == "order.updated" || topic == "order.restored") {
    return read_order(input, false);
  }
  if (topic == "order.deleted") return read_order(input, true);
  OrderEvent ignored;
  ignored.kind = OrderEvent::Kind::ignored_topic;
  return ignored;
}

}  // namespace

Expected<OrderEvent> read(const ParseInput& input) {
  auto event = read_topic(input);
  if (event) event->provider = domain::Provider::provider_b;
  return event;
}

}  // namespace presetbridge::providers::provider_b
