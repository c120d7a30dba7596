#include "services/delivery/event_body.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/utf8.h"
#include "domain/order_summary.h"
#include "domain/resolution.h"
#include "services/delivery/change.h"
#include "services/delivery/items.h"

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using domain::ResolutionCode;

constexpr std::size_t kMostNameBytes = 200;
constexpr std::size_t kMostUnmappedLines = 20;

json::array items_json(std::span<const storage::ItemRow* const> items) {
  json::array array;
  for (const auto* const item : items.first(std::min(items.size(), kMostEventItems))) {
    json::object one{{"id", to_string(item->id)},
                     {"fileId", item->file_id},
                     {"name", cut_utf8(item->name, kMostNameBytes)},
                     {"kind", item->kind},
                     {"status", domain::to_string(reported_status(*item))},
                     {"username", nullptr}};
    if (!item->username.empty()) one["username"] = item->username;
    if (item->former) one["former"] = true;
    array.push_back(std::move(one));
  }
  return array;
}

json::object resolution_json(const storage::DeliveryRow& row) {
  const auto& text = domain::describe(row.resolution);
  const bool unreadable = row.message == domain::kUnreadableLogin;
  return {{"title", text.title},
          {"whatHappened", unreadable ? domain::kUnreadableLogin : text.what_happened},
          {"whatToDo", text.what_to_do}};
}

json::object line_json(const domain::OrderLine& line) {
  json::object object{{"lineId", line.line_id}, {"quantity", line.quantity}};
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) object[key] = cut_utf8(text, kMostNameBytes);
  };
  add("title", line.title);
  add("sku", line.sku);
  add("productId", line.product_id);
  add("variantId", line.variant_id);
  return object;
}

}  // namespace

std::string delivery_event_body(std::string_view uuid, domain::EventType type,
                                const storage::DeliveryRow& row,
                                std::span<const storage::ItemRow* const> items, std::string_view buyer_url,
                                Timestamp now) {
  json::object delivery{{"orderId", row.order_key},
                        {"eventId", order_event_id(row.integration, row.order_key)},
                        {"status", domain::to_string(row.status)},
                        {"message", row.message}};
  if (row.resolution != ResolutionCode::none) delivery["resolutionCode"] = domain::to_string(row.resolution);
  if (!row.reason.empty()) delivery["reason"] = row.reason;
  delivery["sequence"] = row.sequence;
  if (row.dry_run) delivery["dryRun"] = true;
  if (row.resolution != ResolutionCode::none) delivery["resolution"] = resolution_json(row);
  delivery["itemCount"] = items.size();
  delivery["items"] = items_json(items);
  if (!buyer_url.empty()) delivery["buyerUrl"] = buyer_url;
  const json::object body{{"id", uuid},
                          {"type", domain::to_string(type)},
                          {"createdAt", to_iso8601(now)},
                          {"integrationId", to_string(row.integration)},
                          {"deliveryId", to_string(row.id)},
                          {"delivery", std::move(delivery)}};
  return json::serialize(body);
}

std::string unmapped_event_body(std::string_view uuid, const storage::OrderRow& order,
                                const domain::OrderState& state, bool dry_run, Timestamp now) {
  const bool delivers = order.outcome == domain::OrderOutcome::delivery;
  json::array lines;
  for (const auto& line : state.lines) {
    if (line.mapped != domain::OrderLine::Mapped::nothing) continue;
    if (lines.size() == kMostUnmappedLines) break;
    lines.push_back(line_json(line));
  }
  json::object order_fields{
      {"orderId", order.order_key},
      {"eventId", order_event_id(order.integration, order.order_key)},
      {"outcome", to_string(order.outcome)},
      {"message", domain::outcome_in_words(order.outcome, order.unmapped, domain::summarise(state))},
      {"lineCount", state.lines.size()},
      {"unmappedCount", order.unmapped},
      {"unmappedLines", std::move(lines)}};
  if (!state.order_number.empty()) order_fields["orderNumber"] = state.order_number;
  if (dry_run) order_fields["dryRun"] = true;
  const json::object body{
      {"id", uuid},
      {"type", domain::to_string(domain::EventType::order_unmapped)},
      {"createdAt", to_iso8601(now)},
      {"integrationId", to_string(order.integration)},
      {"deliveryId", delivers ? json::value(to_string(DeliveryId{order.id.value})) : nullptr},
      {"order", std::move(order_fields)}};
  return json::serialize(body);
}

}  // namespace presetbridge::services
