#include "storage/stores/timeline_summary.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <vector>

#include "base/id_time.h"
#include "storage/columns.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::storage {

namespace json = boost::json;

namespace {

constexpr Sql kDoneTo{"SELECT done_to FROM retention_walks WHERE name = 'timelines'"};
constexpr Sql kSetDoneTo{
    "INSERT INTO retention_walks (name, done_to) VALUES ('timelines', $1)"
    " ON CONFLICT (name) DO UPDATE SET done_to = excluded.done_to"};
constexpr Sql kAttemptsOfDeliveries{
    "SELECT delivery_id, id, at, type, data FROM delivery_timeline"
    " WHERE delivery_id > $1 AND delivery_id < $2 AND kind = 'attempt'"
    " ORDER BY delivery_id, id LIMIT $3"};
constexpr Sql kAttemptsOfDelivery{
    "SELECT delivery_id, id, at, type, data FROM delivery_timeline"
    " WHERE delivery_id = $1 AND id < $2 AND kind = 'attempt' ORDER BY id LIMIT $3"};
constexpr Sql kDelete{"DELETE FROM delivery_timeline WHERE delivery_id = $1 AND id = $2"};
constexpr Sql kSummarise{
    "UPDATE delivery_timeline SET type = 'summary', actor = 'system', status = '',"
    " resolution_code = NULL, attempt = 0, duration_ms = NULL, item_id = NULL, message = $3, data = $4"
    " WHERE delivery_id = $1 AND id = $2"};
constexpr Sql kDue{"SELECT delivery_id FROM timeline_revisits WHERE due_at <= $1 ORDER BY due_at LIMIT 1"};
constexpr Sql kFirstYoung{
    "SELECT id FROM delivery_timeline WHERE delivery_id = $1 AND id >= $2 ORDER BY id LIMIT 1"};
constexpr Sql kRevisitAt{
    "INSERT INTO timeline_revisits (delivery_id, due_at) VALUES ($1, $2)"
    " ON CONFLICT (delivery_id) DO UPDATE SET due_at = excluded.due_at"};
constexpr Sql kRevisited{"DELETE FROM timeline_revisits WHERE delivery_id = $1"};

struct OldEntry {
  DeliveryId delivery;
  std::int64_t id = 0;
  Timestamp at;
  std::string type;
  std::string data;
};

OldEntry read_old_entry(const Row& r) {
  return {r.id<DeliveryId>(0), r.int64(1), r.time(2), r.string(3), r.string_or_empty(4)};
}

// Replaces entries of one delivery by their summary, at the position of the last; returns how many were
// deleted.
std::int64_t collapse(Tx& tx, std::span<const OldEntry> entries) {
  if (entries.size() < 2 && (entries.empty() || entries.front().type == kSummary)) return 0;
  TimelineSummary summary;
  std::vector<Param> gone;
  for (const auto& e : entries) {
    if (e.type == kSummary) {
      summary.add(read_summary(e.data));
    } else {
      ++summary.attempts;
      summary.add(e.type, e.at);
    }
    if (&e != &entries.back()) gone.insert(gone.end(), {e.delivery, e.id});
  }
  const auto& last = entries.back();
  const auto message = std::to_string(summary.attempts) +
                       (summary.attempts == 1 ? " attempt, summed up." : " attempts, summed up.");
  const auto data = encode(summary);
  tx.exec(kSummarise, last.delivery, last.id, message, data);
  if (!gone.empty()) tx.exec_many(kDelete, 2, gone);
  return std::ssize(entries) - 1;
}

// Schedules a revisit of the delivery for when its first young entry is old; without one, cancels revisits.
void schedule_revisit(Tx& tx, DeliveryId delivery, std::int64_t first_young_id, Millis retention) {
  const auto next = tx.one(kFirstYoung, delivery, first_young_id, [](const Row& r) { return r.int64(0); });
  if (next) {
    tx.exec(kRevisitAt, delivery, made_at(*next) + retention + Millis{1});
  } else {
    tx.exec(kRevisited, delivery);
  }
}

}  // namespace

void TimelineSummary::add(std::string_view type, Timestamp at) {
  auto& earliest = first.try_emplace(std::string(type), at).first->second;
  earliest = std::min(earliest, at);
}

void TimelineSummary::add(const TimelineSummary& other) {
  attempts += other.attempts;
  for (const auto& [type, at] : other.first) add(type, at);
}

std::string encode(const TimelineSummary& summary) {
  json::object first;
  for (const auto& [type, at] : summary.first) first[type] = to_unix_ms(at);
  return json::serialize(json::object{{"attempts", summary.attempts}, {"first", std::move(first)}});
}

TimelineSummary read_summary(std::string_view text) {
  TimelineSummary summary;
  boost::system::error_code error;
  const auto value = json::parse({text.data(), text.size()}, error);
  const auto* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return summary;
  if (const auto* attempts = object->if_contains("attempts"); attempts != nullptr && attempts->is_int64())
    summary.attempts = attempts->get_int64();
  const auto* const first = object->if_contains("first");
  if (first == nullptr || !first->is_object()) return summary;
  for (const auto& [type, at] : first->get_object())
    if (at.is_int64()) summary.add(std::string_view(type.data(), type.size()), from_unix_ms(at.get_int64()));
  return summary;
}

CollapsedBatch collapse_timelines(Tx& tx, Timestamp before, Millis retention, int limit) {
  const auto done_to = tx.one(kDoneTo, [](const Row& r) { return r.int64(0); }).value_or(0);
  const auto first_young_id = first_id_at(before);
  std::vector<OldEntry> rows;
  tx.query(kAttemptsOfDeliveries, done_to, first_young_id, limit,
           [&](const Row& r) { rows.push_back(read_old_entry(r)); });
  CollapsedBatch batch{.more = std::ssize(rows) == limit};
  auto reached = done_to;
  for (auto from = rows.begin(); from != rows.end();) {
    const auto to =
        std::find_if(from, rows.end(), [&](const OldEntry& e) { return e.delivery != from->delivery; });
    const auto old_end = std::find_if(from, to, [&](const OldEntry& e) { return e.id >= first_young_id; });
    batch.collapsed += collapse(tx, {from, old_end});
    // The last delivery may have more entries than were read: the next batch begins with it. If it is the
    // only one of the batch, its other entries are left to a revisit.
    if (to != rows.end() || !batch.more || from == rows.begin()) {
      if (to == rows.end() && batch.more) {
        tx.exec(kRevisitAt, from->delivery, tx.now());
      } else {
        schedule_revisit(tx, from->delivery, first_young_id, retention);
      }
      reached = from->delivery.value;
    }
    from = to;
  }
  // So that deliveries without an attempt are not read again.
  if (!batch.more) reached = std::max(reached, first_young_id - 1);
  if (reached != done_to) tx.exec(kSetDoneTo, reached);
  return batch;
}

CollapsedBatch collapse_revisited(Tx& tx, Timestamp before, Millis retention, int limit) {
  const auto due = tx.one(kDue, tx.now(), [](const Row& r) { return r.id<DeliveryId>(0); });
  if (!due) return {};
  const auto first_young_id = first_id_at(before);
  std::vector<OldEntry> rows;
  tx.query(kAttemptsOfDelivery, *due, first_young_id, limit,
           [&](const Row& r) { rows.push_back(read_old_entry(r)); });
  CollapsedBatch batch{.collapsed = collapse(tx, rows), .more = true};
  if (std::ssize(rows) < limit) schedule_revisit(tx, *due, first_young_id, retention);
  return batch;
}

}  // namespace presetbridge::storage
