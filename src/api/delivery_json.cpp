#include "api/delivery_json.h"

#include <array>
#include <string_view>
#include <vector>

#include "api/optional_json.h"
#include "base/csv.h"
#include "domain/resolution.h"
#include "services/delivery/change.h"
#include "services/delivery/items.h"

namespace presetbridge::api {
namespace {

namespace json = boost::json;
using services::DeliverySummary;
using services::DeliveryView;

constexpr std::array<std::string_view, 4> kUsernameSources = {"", "store", "merchant", "buyer"};

json::value name_or_null(std::string_view name) {
  if (name.empty()) return nullptr;
  return json::value(name);
}

json::array flags_of(const storage::DeliveryRow& row) {
  json::array flags;
  if (row.refunded) flags.emplace_back("refunded");
  if (row.cancelled) flags.emplace_back("cancelled");
  return flags;
}

std::optional<Timestamp> waiting_since(const storage::DeliveryRow& row) {
  if (row.status != domain::DeliveryStatus::waiting_for_friendship) return std::nullopt;
  return row.waiting_since;
}

json::value resolution_json(domain::ResolutionCode code, const std::string& file_name) {
  if (code == domain::ResolutionCode::none) return nullptr;
  const auto& text = domain::describe(code);
  return json::object{{"code", domain::to_string(code)},
                      {"title", text.title},
                      {"whatHappened", text.what_happened},
                      {"whatToDo", text.what_to_do},
                      {"text", std::string(text.what_happened) + " " + std::string(text.what_to_do)},
                      {"remedy", domain::remedy_of(code)},
                      {"fileName", text_or_null(file_name)}};
}

json::value size_json(const std::optional<domain::OrderExcess>& size) {
  if (!size) return nullptr;
  const auto count = [](std::int64_t n) { return n > 0 ? json::value(n) : json::value(); };
  return json::object{
      {"products", count(size->lines)}, {"files", count(size->files)}, {"limit", size->limit}};
}

json::array items_json(const DeliveryView& view) {
  json::array items;
  for (const auto& item : view.items) {
    items.push_back(
        json::object{{"id", to_string(item.id)},
                     {"fileId", item.file_id},
                     {"kind", item.kind},
                     {"name", item.name},
                     {"matchedBy", item.matched_by},
                     {"quantity", item.quantity},
                     {"status", domain::to_string(services::reported_status(item))},
                     {"sharedAt", view.row.dry_run ? json::value() : time_or_null(item.shared_at)},
                     {"username", text_or_null(item.username)},
                     {"former", item.former},
                     {"staysWithCustomer", view.staying.contains(item.id)},
                     {"dryRun", view.row.dry_run},
                     {"credits", item.spent ? 1 : 0}});
  }
  return items;
}

}  // namespace

json::object summary_json(const DeliverySummary& summary) {
  const auto& row = summary.row;
  const auto review_reason = row.review_reasons.gravest();
  json::value position = nullptr;
  if (summary.queue_position) position = *summary.queue_position;
  return {
      {"id", to_string(row.id)},
      {"accountId", to_string(row.account)},
      {"integrationId", to_string(row.integration)},
      {"integrationName", summary.integration_name},
      {"orderId", row.order_key},
      {"orderNumber", text_or_null(summary.order_number)},
      {"eventId", services::order_event_id(row.integration, row.order_key)},
      {"status", domain::to_string(row.status)},
      {"resolutionCode", name_or_null(domain::to_string(row.resolution))},
      {"resolution", resolution_json(row.resolution, summary.items_summary.first_owed)},
      {"message", row.message},
      {"reason", text_or_null(row.reason)},
      {"reviewReason", review_reason ? json::value(domain::to_string(*review_reason)) : json::value()},
      {"pendingAction", name_or_null(domain::to_string(row.pending.kind))},
      {"targetUsername", text_or_null(row.username)},
      {"rawUsername", text_or_null(row.raw_username)},
      {"customerEmail", text_or_null(row.email)},
      {"cloudAccountId", id_or_null(row.cloud_account)},
      {"customerId", id_or_null(row.customer)},
      {"itemCount", summary.items_summary.count},
      {"sharedCount", summary.items_summary.delivered},
      {"firstItemName", text_or_null(summary.items_summary.first_name)},
      {"refunded", row.refunded},
      {"refundedInPart", row.refunded && summary.marks.has(domain::OrderMark::refunded_in_part)},
      {"cancelled", row.cancelled},
      {"flags", flags_of(row)},
      {"attemptCount", row.attempt_count},
      {"nextAttemptAt", time_or_null(row.next_attempt_at)},
      {"queuePosition", std::move(position)},
      {"estimatedAt", time_or_null(summary.estimated_at)},
      {"waitingSince", time_or_null(waiting_since(row))},
      {"requestedAt", time_or_null(summary.requested_at)},
      {"createdAt", to_iso8601(row.created_at)},
      {"updatedAt", to_iso8601(row.updated_at)},
      {"completedAt", time_or_null(row.completed_at)},
      {"dryRun", row.dry_run},
      {"test", summary.marks.has(domain::OrderMark::test)},
      {"sequence", row.sequence},
  };
}

json::object entry_json(const services::ShownEntry& shown) {
  const auto& e = shown.entry;
  json::value duration = nullptr;
  if (e.duration) duration = e.duration->count();
  boost::system::error_code error;
  auto data = e.data.empty() ? json::value(json::object()) : json::parse(e.data, error);
  if (error || !data.is_object()) data = json::object();
  return {{"id", format_id("tle", e.id)},
          {"at", to_iso8601(e.at)},
          {"type", to_string(shown.type)},
          {"kind", to_string(e.kind)},
          {"actor", e.actor},
          {"actorName", text_or_null(shown.actor_name)},
          {"status", text_or_null(e.status)},
          {"resolutionCode", text_or_null(e.resolution)},
          {"message", e.message},
          {"attempt", e.attempt},
          {"durationMs", std::move(duration)},
          {"itemId", id_or_null(e.item)},
          {"data", std::move(data)}};
}

json::object view_json(const DeliveryView& view, const std::string& buyer_url) {
  auto body = summary_json(view);
  if (auto* const resolution = body["resolution"].if_object()) {
    (*resolution)["affectedCount"] = view.resolution.affected;
    (*resolution)["creditsNeeded"] = view.resolution.credits_needed;
  }
  body["items"] = items_json(view);
  json::array steps;
  for (std::size_t i = 0; i < view.steps.size(); ++i) {
    steps.push_back(json::object{{"key", domain::kStepNames[i]},
                                 {"state", domain::kStepStateNames[static_cast<std::size_t>(view.steps[i])]},
                                 {"at", time_or_null(view.step_times[i])}});
  }
  body["steps"] = std::move(steps);
  json::array allowed;
  for (const auto action : view.allowed)
    allowed.emplace_back(domain::kMerchantActionNames[static_cast<std::size_t>(action)]);
  body["allowedActions"] = std::move(allowed);
  body["resumableUntil"] = time_or_null(view.resumable_until);
  body["partlyUnmapped"] = view.partly_unmapped;
  body["size"] = size_json(view.size);
  body["usernameSource"] = name_or_null(kUsernameSources[static_cast<std::size_t>(view.username_source)]);
  body["firstRequestAt"] = time_or_null(view.first_request_at);
  body["givesUpAt"] = time_or_null(view.gives_up_at);
  body["nextLookAt"] = time_or_null(view.next_sweep_at);
  body["buyerUrl"] = buyer_url;
  body["storeOrderUrl"] = text_or_null(view.store_order_url);
  json::array events;
  for (const auto& event : view.events) {
    json::value status_code = nullptr;
    if (event.last_status_code) status_code = *event.last_status_code;
    events.push_back(json::object{{"id", to_string(event.id)},
                                  {"type", event.type},
                                  {"createdAt", to_iso8601(event.created_at)},
                                  {"subscriptionId", id_or_null(event.subscription)},
                                  {"attempts", event.attempts},
                                  {"lastStatusCode", std::move(status_code)},
                                  {"nextAttemptAt", time_or_null(event.next_attempt_at)}});
  }
  body["events"] = std::move(events);
  json::array timeline;
  for (const auto& entry : view.timeline) timeline.push_back(entry_json(entry));
  body["timeline"] = std::move(timeline);
  json::value next = nullptr;
  if (view.timeline_next) next = format_id("cur", *view.timeline_next);
  body["timelineNextCursor"] = std::move(next);
  return body;
}

std::string csv_head() {
  static constexpr std::array<std::string_view, 19> columns = {
      "id",       "order_number", "order_id",   "store",      "status",      "resolution_code", "message",
      "username", "email",        "files",      "delivered",  "first_file",  "refunded",        "cancelled",
      "dry_run",  "attempts",     "created_at", "updated_at", "completed_at"};
  std::string line;
  append_csv(line, columns);
  return line;
}

std::string csv_line(const DeliverySummary& summary) {
  const auto& row = summary.row;
  const auto flag = [](bool yes) { return std::string(yes ? "true" : "false"); };
  std::array<std::string, 19> texts = {to_string(row.id),
                                       summary.order_number,
                                       row.order_key,
                                       summary.integration_name,
                                       std::string(domain::to_string(row.status)),
                                       std::string(domain::to_string(row.resolution)),
                                       row.message,
                                       row.username,
                                       row.email,
                                       std::to_string(summary.items_summary.count),
                                       std::to_string(summary.items_summary.delivered),
                                       summary.items_summary.first_name,
                                       flag(row.refunded),
                                       flag(row.cancelled),
                                       flag(row.dry_run),
                                       std::to_string(row.attempt_count),
                                       to_iso8601(row.created_at),
                                       to_iso8601(row.updated_at),
                                       row.completed_at ? to_iso8601(*row.completed_at) : std::string()};
  std::array<std::string_view, 19> fields;
  for (std::size_t i = 0; i < texts.size(); ++i) fields[i] = texts[i] = guard_formula(texts[i]);
  std::string line;
  append_csv(line, fields);
  return line;
}

}  // namespace presetbridge::api
