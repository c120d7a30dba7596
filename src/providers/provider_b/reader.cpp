#include "providers/provider_b/reader.h"

#include <array>
#include <vector>

#include "domain/username.h"
#include "providers/picked_json.h"
#include "providers/store_fields.h"

namespace presetbridge::providers::provider_b {
namespace {

using domain::OrderEvent;
using domain::Payment;

constexpr std::array kBillingMembers{ShapeMember{"email", &kScalar}};
constexpr Shape kBilling{.members = kBillingMembers};
constexpr std::array kMetaMembers{ShapeMember{"key", &kScalar}, ShapeMember{"display_key", &kScalar},
                                  ShapeMember{"value", &kScalar}};
constexpr Shape kMeta{.members = kMetaMembers};
constexpr Shape kMetaData{.element = &kMeta};
constexpr std::array kLineMembers{ShapeMember{"id", &kScalar},         ShapeMember{"sku", &kScalar},
                                  ShapeMember{"product_id", &kScalar}, ShapeMember{"variation_id", &kScalar},
                                  ShapeMember{"name", &kScalar},       ShapeMember{"quantity", &kScalar},
                                  ShapeMember{"meta_data", &kMetaData}};
constexpr Shape kLine{.members = kLineMembers};
constexpr Shape kLines{.element = &kLine};
constexpr std::array kRefundMembers{ShapeMember{"id", &kScalar}};
constexpr Shape kRefund{.members = kRefundMembers};
constexpr Shape kRefunds{.element = &kRefund};
constexpr std::array kOrderMembers{
    ShapeMember{"id", &kScalar},          ShapeMember{"number", &kScalar},
    ShapeMember{"billing", &kBilling},    ShapeMember{"status", &kScalar},
    ShapeMember{"meta_data", &kMetaData}, ShapeMember{"line_items", &kLines},
    ShapeMember{"refunds", &kRefunds},    ShapeMember{"date_modified_gmt", &kScalar},
    ShapeMember{"code", &kScalar},        ShapeMember{"message", &kScalar}};
constexpr Shape kOrder{.members = kOrderMembers};

constexpr std::string_view kTrash = "trash";

Payment payment_of(std::string_view status) {
  if (status.empty() || status == "processing" || status == "completed") return Payment::deliver;
  if (status == "refunded") return Payment::refunded;
  if (status == "cancelled" || status == "failed" || status == kTrash) return Payment::cancelled;
  return Payment::awaiting_payment;
}

// The order's meta data, then the lines' (of which add-ons write what the buyer was asked for as
// `display_key`, or as the key itself); then the same places for the merchant's own names.
void find_username(OrderEvent& event, const PickedValue& order, const ParseInput& input) {
  const auto read_places = [&](std::span<const std::string_view> names) {
    const domain::FieldNames wanted(names);
    offer_named(event, order["meta_data"], {"key"}, wanted, input.limits);
    for (const auto& line : order["line_items"].elements())
      offer_named(event, line["meta_data"], {"key", "display_key"}, wanted, input.limits);
  };
  constexpr std::array<std::string_view, 1> names{"vendor_username"};
  read_places(names);
  if (!event.username.empty() || input.username_fields.empty()) return;
  read_places(std::vector<std::string_view>(input.username_fields.begin(), input.username_fields.end()));
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

// The shop makes the body when it sends the event: for an order that was deleted for good meanwhile it is the
// error of its API.
bool is_error_of_shop(const PickedValue& body) {
  using Kind = PickedValue::Kind;
  return body["id"].is(Kind::absent) && body["code"].is(Kind::string) && body["message"].is(Kind::string);
}

OrderEvent ignored_topic() {
  OrderEvent ignored;
  ignored.kind = OrderEvent::Kind::ignored_topic;
  return ignored;
}

enum class Change { saved, restored, deleted };

Expected<OrderEvent> read_order(const ParseInput& input, Change change) {
  const auto picked = pick_json(input.body, kOrder, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());
  const auto& order = picked->root;
  OrderEvent event;
  event.order_id = nonzero_identifier(order["id"]);
  if (event.order_id.empty()) {
    if (is_error_of_shop(order)) return ignored_topic();  // refusals count against the webhook
    return no_order_id("id");
  }
  event.test = input.test;
  if (change == Change::deleted) {
    event.kind = OrderEvent::Kind::stop;
    event.payment = Payment::cancelled;
    event.trashed = true;
    return event;
  }
  event.order_number = identifier(order["number"]);
  event.email = email(order["billing"]["email"]);
  const auto status = keyword(order["status"]);
  event.payment = payment_of(status);
  event.trashed = status == kTrash;
  // An order that is in the trash again when its event is sent is not restored.
  event.restored = change == Change::restored && !event.trashed;
  event.updated_at = timestamp(order["date_modified_gmt"]);
  find_username(event, order, input);
  read_lines(event, order["line_items"], input.limits.line_items, picked->truncated, read_line);
  // An order lists {id, reason, total} of each refund and not its lines, so a refund only flags the order
  // (spec 2.11).
  const auto refunds = order["refunds"].elements();
  event.too_many_refund_lines = refunds.size() > input.limits.refund_lines;
  if (!event.too_many_refund_lines) {
    for (const auto& refund : refunds) event.refunds.push_back({identifier(refund["id"]), {}});
  }
  return event;
}

Expected<OrderEvent> read_topic(const ParseInput& input) {
  const auto topic = input.topic;
  if (topic.empty() || topic == "order.created" || topic == "order.updated") {
    return read_order(input, Change::saved);
  }
  if (topic == "order.restored") return read_order(input, Change::restored);
  if (topic == "order.deleted") return read_order(input, Change::deleted);
  return ignored_topic();
}

}  // namespace

Expected<OrderEvent> read(const ParseInput& input) {
  auto event = read_topic(input);
  if (event) event->provider = domain::Provider::provider_b;
  return event;
}

}  // namespace presetbridge::providers::provider_b
