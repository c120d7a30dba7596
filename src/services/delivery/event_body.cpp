#include "services/delivery/event_body.h"

#include <algorithm>

#include <boost/json.hpp>

#include "domain/resolution.h"
#include "domain/username.h"
#include "services/delivery/change.h"

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using domain::ResolutionCode;

constexpr std::size_t kMostNameBytes = 200;

json::array items_json(std::span<const storage::ItemRow* const> items) {
  json::array array;
  for (const auto* const item : items.first(std::min(items.size(), kMostItemsTold))) {
    json::object one{{"id", to_string(item->id)},
                     {"fileId", item->file_id},
                     {"name", domain::cut_utf8(item->name, kMostNameBytes)},
                     {"kind", item->kind},
                     {"status", domain::to_string(item->status)},
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

}  // namespace

std::string delivery_event_body(std::string_view uuid, domain::EventType type,
                                const storage::DeliveryRow& row,
                                std::span<const storage::ItemRow* const> items, Timestamp now) {
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
  const json::object body{{"id", uuid},
                          {"type", domain::to_string(type)},
                          {"createdAt", to_iso8601(now)},
                          {"integrationId", to_string(row.integration)},
                          {"deliveryId", to_string(row.id)},
                          {"delivery", std::move(delivery)}};
  return json::serialize(body);
}

}  // namespace presetbridge::services
