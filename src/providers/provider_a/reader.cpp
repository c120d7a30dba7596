#include "providers/provider_a/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/utf8.h"
#include "domain/username.h"
#include "providers/picked_json.h"
#include "providers/store_fields.h"

namespace presetbridge::providers::provider_a {
namespace {

using domain::OrderEvent;
using domain::Payment;
using Event = OrderEvent::Kind;

// The order's id in the platform's test notifications of every topic.
constexpr std::string_view kSampleOrderId = "820982911946154508";

// -- orders
// --------------------------------------------------------------------------------------------------------

constexpr std::array kAttributeMembers{ShapeMember{"name", &kScalar}, ShapeMember{"value", &kScalar}};
constexpr Shape kAttribute{.members = kAttributeMembers};
constexpr Shape kAttributes{.element = &kAttribute};

constexpr std::array kLineMembers{ShapeMember{"id", &kScalar},
                                  ShapeMember{"sku", &kScalar},
                                  ShapeMember{"product_id", &kScalar},
                                  ShapeMember{"variant_id", &kScalar},
                                  ShapeMember{"title", &kScalar},
                                  ShapeMember{"quantity", &kScalar},
                                  ShapeMember{"current_quantity", &kScalar},
                                  ShapeMember{"properties", &kAttributes}};
constexpr Shape kLine{.members = kLineMembers};
constexpr Shape kLines{.element = &kLine};

constexpr std::array kRefundLineMembers{ShapeMember{"line_item_id", &kScalar},
                                        ShapeMember{"quantity", &kScalar}};
constexpr Shape kRefundLine{.members = kRefundLineMembers};
constexpr Shape kRefundLines{.element = &kRefundLine};
constexpr std::array kRefundMembers{ShapeMember{"id", &kScalar}, ShapeMember{"order_id", &kScalar},
                                    ShapeMember{"refund_line_items", &kRefundLines}};
constexpr Shape kRefund{.members = kRefundMembers};
constexpr Shape kRefunds{.element = &kRefund};

constexpr std::array kOrderMembers{ShapeMember{"id", &kScalar},
                                   ShapeMember{"name", &kScalar},
                                   ShapeMember{"order_number", &kScalar},
                                   ShapeMember{"email", &kScalar},
                                   ShapeMember{"note", &kScalar},
                                   ShapeMember{"note_attributes", &kAttributes},
                                   ShapeMember{"line_items", &kLines},
                                   ShapeMember{"refunds", &kRefunds},
                                   ShapeMember{"financial_status", &kScalar},
                                   ShapeMember{"cancelled_at", &kScalar},
                                   ShapeMember{"updated_at", &kScalar},
                                   ShapeMember{"test", &kScalar}};
constexpr Shape kOrder{.members = kOrderMembers};

// A time; some senders write what is empty, or false, for none.
bool names_a_time(const PickedValue& value) {
  const auto text = keyword(value);
  return !domain::trim_unicode(text).empty() && text != "false" && text != "0";
}

Payment payment_of(const PickedValue& order, bool cancelled) {
  if (cancelled || names_a_time(order["cancelled_at"])) return Payment::cancelled;
  const auto status = keyword(order["financial_status"]);
  if (status.empty() || status == "paid" || status == "partially_refunded") return Payment::deliver;
  if (status == "refunded" || status == "voided") return Payment::refunded;
  return Payment::awaiting_payment;
}

// The cart's attributes, the note (its specific labels before a bare "username"), the lines' properties; then
// the same places for the merchant's own names.
void find_username(OrderEvent& event, const PickedValue& order, const ParseInput& input) {
  using Names = std::span<const std::string_view>;
  const auto& note = order["note"];
  const auto text =
      note.is(PickedValue::Kind::string) ? cut_utf8(note.text, kMaxNoteBytes) : std::string_view{};
  const auto read_note = [&](Names labels) {
    if (event.username.empty()) offer_username(event, domain::labelled_value(text, labels), input.limits);
  };
  const auto read_places = [&](Names names, Names more_labels) {
    const domain::FieldNames wanted(names);
    offer_named(event, order["note_attributes"], {"name"}, wanted, input.limits);
    read_note(names);
    read_note(more_labels);
    for (const auto& line : order["line_items"].elements())
      offer_named(event, line["properties"], {"name"}, wanted, input.limits);
  };
  constexpr std::array<std::string_view, 3> names{"vendor_username", "cloud_username", "dsp_username"};
  constexpr std::array<std::string_view, 1> bare{"username"};
  read_places(names, bare);
  if (!event.username.empty() || input.username_fields.empty()) return;
  read_places(std::vector<std::string_view>(input.username_fields.begin(), input.username_fields.end()), {});
}

// Each refund without lines counts as one of the limit, so that what is stored has a bound too.
void read_refunds(OrderEvent& event, std::span<const PickedValue> refunds, std::size_t limit) {
  std::size_t lines = 0;
  for (const auto& refund : refunds)
    lines += std::max<std::size_t>(1, refund["refund_line_items"].elements().size());
  if (lines > limit) {
    event.too_many_refund_lines = true;
    return;
  }
  for (const auto& value : refunds) {
    domain::Refund refund{.id = identifier(value["id"]), .lines = {}};
    for (const auto& line : value["refund_line_items"].elements()) {
      auto id = identifier(line["line_item_id"]);
      if (!id.empty()) refund.lines.push_back({std::move(id), store_quantity(line["quantity"])});
    }
    event.refunds.push_back(std::move(refund));
  }
}

domain::OrderLine read_line(const PickedValue& line) {
  const auto current = whole_number(line["current_quantity"]);
  return {.line_id = identifier(line["id"]),
          .sku = identifier(line["sku"]),
          .product_id = identifier(line["product_id"]),
          .variant_id = identifier(line["variant_id"]),
          .title = free_text(line["title"]),
          .quantity = store_quantity(line["quantity"]),
          .current_quantity = current && *current >= 0 ? current : std::nullopt};
}

Expected<OrderEvent> read_order(const ParseInput& input, bool cancelled) {
  const auto picked = pick_json(input.body, kOrder, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());
  const auto& order = picked->root;
  OrderEvent event;
  event.order_id = identifier(order["id"]);
  if (event.order_id.empty()) return no_order_id("id");
  event.order_number = identifier(order["name"]);
  if (event.order_number.empty()) event.order_number = identifier(order["order_number"]);
  event.email = email(order["email"]);
  event.payment = payment_of(order, cancelled);
  event.updated_at = timestamp(order["updated_at"]);
  // The header comes with orders of a shop in test mode too, which say so themselves.
  const bool marked = order["test"].is(PickedValue::Kind::boolean) && order["test"].text == "true";
  event.sample = event.order_id == kSampleOrderId || (input.test && !marked);
  event.test = event.sample || marked;
  find_username(event, order, input);
  read_lines(event, order["line_items"], input.limits.line_items, picked->truncated, read_line);
  read_refunds(event, order["refunds"].elements(), input.limits.refund_lines);
  return event;
}

// Events beside an order do not say whether it was a test order, so the header alone makes no sample of it.
void mark_sample(OrderEvent& event, const ParseInput& input) {
  event.sample = event.order_id == kSampleOrderId;
  event.test = event.sample || input.test;
}

Expected<OrderEvent> read_refund_event(const ParseInput& input) {
  const auto picked = pick_json(input.body, kRefund, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());
  OrderEvent event;
  event.kind = Event::refund;
  event.order_id = identifier(picked->root["order_id"]);
  if (event.order_id.empty()) return no_order_id("order_id");
  mark_sample(event, input);
  read_refunds(event, {&picked->root, 1}, input.limits.refund_lines);
  event.too_many_refund_lines |= picked->truncated;
  return event;
}

OrderEvent ignored_topic() {
  OrderEvent ignored;
  ignored.kind = Event::ignored_topic;
  return ignored;
}

// -- risk
// ----------------------------------------------------------------------------------------------------------

constexpr std::array kRiskMembers{ShapeMember{"order_id", &kScalar}, ShapeMember{"provider_id", &kScalar},
                                  ShapeMember{"admin_graphql_api_order_id", &kScalar},
                                  ShapeMember{"risk_level", &kScalar}, ShapeMember{"created_at", &kScalar}};
constexpr Shape kRisk{.members = kRiskMembers};

// The payload is flat: provider_id, provider_title, risk_level, created_at, order_id,
// admin_graphql_api_order_id. The platform's schema lets order_id be null, so the global id
// ("gid://…/Order/<id>") stands in for it.
Expected<OrderEvent> read_risk(const ParseInput& input) {
  const auto picked = pick_json(input.body, kRisk, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());
  OrderEvent event;
  event.kind = Event::risk;
  event.order_id = identifier(picked->root["order_id"]);
  if (event.order_id.empty()) {
    const auto global = identifier(picked->root["admin_graphql_api_order_id"]);
    if (const auto id = global.rfind("/Order/"); id != std::string::npos)
      event.order_id = global.substr(id + 7);
  }
  if (event.order_id.empty()) {
    if (picked->root["order_id"].given()) return no_order_id("order_id");
    return ignored_topic();  // the platform's sample names no order, and refusals count against a store
  }
  mark_sample(event, input);
  event.updated_at = timestamp(picked->root["created_at"]);
  event.high_risk = keyword(picked->root["risk_level"]) == "high";
  event.risk_source = identifier(picked->root["provider_id"]);
  return event;
}

// -- privacy
// -------------------------------------------------------------------------------------------------------

constexpr std::array kCustomerMembers{ShapeMember{"email", &kScalar}};
constexpr Shape kCustomer{.members = kCustomerMembers};
constexpr Shape kIds{.element = &kScalar};
constexpr std::array kPrivacyMembers{ShapeMember{"customer", &kCustomer},
                                     ShapeMember{"orders_to_redact", &kIds},
                                     ShapeMember{"orders_requested", &kIds}};
constexpr Shape kPrivacy{.members = kPrivacyMembers};

// A request that is read in part would count as carried out.
constexpr std::size_t kMaxIds = 200'000;

Expected<OrderEvent> read_privacy(const ParseInput& input, Event kind) {
  const auto picked = pick_json(input.body, kPrivacy, input.limits.json_depth, kMaxIds);
  if (!picked) return std::unexpected(picked.error());
  if (picked->truncated)
    return fail("PAYLOAD_TOO_LARGE", fmt::format("The request names more than {} orders.", kMaxIds));
  OrderEvent event;
  event.kind = kind;
  event.test = input.test;
  event.email = email(picked->root["customer"]["email"]);
  const auto& ids = picked->root[kind == Event::data_request ? "orders_requested" : "orders_to_redact"];
  for (const auto& id : ids.elements()) {
    if (auto text = identifier(id); !text.empty()) event.order_ids.push_back(std::move(text));
  }
  return event;
}

Expected<OrderEvent> read_topic(const ParseInput& input) {
  const auto topic = input.topic;
  if (topic.empty() || topic == "orders/paid" || topic == "orders/create" || topic == "orders/updated") {
    return read_order(input, false);
  }
  if (topic == "orders/cancelled") return read_order(input, true);
  if (topic == "refunds/create") return read_refund_event(input);
  if (topic == "orders/risk_assessment_changed") return read_risk(input);
  if (topic == "customers/redact") return read_privacy(input, Event::customer_redact);
  if (topic == "customers/data_request") return read_privacy(input, Event::data_request);
  if (topic == "shop/redact") return read_privacy(input, Event::shop_redact);
  return ignored_topic();
}

}  // namespace

Expected<OrderEvent> read(const ParseInput& input) {
  auto event = read_topic(input);
  if (event) event->provider = domain::Provider::provider_a;
  return event;
}

}  // namespace presetbridge::providers::provider_a
