#include "storage/stores/timeline_store.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/id_time.h"
#include "storage/columns.h"
#include "storage/stores/timeline_summary.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kAppendTimeline{
    "INSERT INTO delivery_timeline (delivery_id, id, at, kind, actor, status, resolution_code, message, "
    "type, "
    "version, attempt, duration_ms, item_id, data)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"};
constexpr Sql kFindTimeline{
    "SELECT id, at, kind, actor, status, resolution_code, message, type, version, attempt, duration_ms, "
    "item_id, data FROM delivery_timeline WHERE delivery_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"};
constexpr Sql kBlankTimeline{
    "UPDATE delivery_timeline SET data = NULL WHERE delivery_id = $1 AND data IS NOT NULL AND type <> "
    "'summary'"};
constexpr Sql kFirstTimes{"SELECT type, min(at) FROM delivery_timeline WHERE delivery_id = $1 GROUP BY type"};
constexpr Sql kSummaryOf{
    "SELECT data FROM delivery_timeline WHERE delivery_id = $1 AND type = 'summary' AND data IS NOT NULL"};
constexpr Sql kNoteRevisit{
    "INSERT INTO timeline_revisits (delivery_id, due_at) VALUES ($1, $2) ON CONFLICT (delivery_id) DO "
    "NOTHING"};

}  // namespace

void blank_timelines(Tx& tx, std::span<const DeliveryId> ids) {
  tx.exec_many(kBlankTimeline, 1, params_of(ids));
}
void append_timeline(Tx& tx, std::span<const TimelineRow> rows) {
  std::vector<Param> flat;
  flat.reserve(14 * rows.size());
  for (const auto& [delivery, e] : rows) {
    const auto duration = e.duration ? Param(std::int64_t{e.duration->count()}) : Param(nullptr);
    const auto type = e.type ? to_string(*e.type) : std::string_view("");
    flat.insert(flat.end(),
                {delivery, e.id, e.at, to_string(e.kind), e.actor, e.status, text_or_null(e.resolution),
                 e.message, type, e.version, e.attempt, duration, id_or_null(e.item), text_or_null(e.data)});
  }
  tx.exec_many(kAppendTimeline, 14, flat);

  const auto old = first_id_at(tx.now() - kShortestTimelines);
  std::vector<Param> revisits;
  std::set<DeliveryId> noted;
  for (const auto& [delivery, e] : rows) {
    if (delivery.value < old && noted.insert(delivery).second)
      revisits.insert(revisits.end(), {delivery, tx.now() + kShortestTimelines});
  }
  if (!revisits.empty()) tx.exec_many(kNoteRevisit, 2, revisits);
}

std::vector<TimelineEntry> find_timeline(Tx& tx, DeliveryId delivery, int limit, std::int64_t before) {
  std::vector<TimelineEntry> entries;
  tx.query(kFindTimeline, delivery, before, limit, [&](const Row& r) {
    auto& e = entries.emplace_back(
        TimelineEntry{.id = r.int64(0),
                      .at = r.time(1),
                      .type = domain::parse_timeline_type(r.text(7)),
                      .kind = domain::parse_timeline_kind(r.text(2)).value_or(domain::TimelineKind::action),
                      .actor = r.string(3),
                      .status = r.string(4),
                      .resolution = r.string_or_empty(5),
                      .message = r.string(6),
                      .version = r.int64(8),
                      .attempt = r.int64(9),
                      .item = r.id_or_none<ItemId>(11),
                      .data = r.string_or_empty(12)});
    if (const auto ms = r.opt_int64(10)) e.duration = Millis{*ms};
  });
  return entries;
}

std::vector<FirstTime> find_first_times(Tx& tx, DeliveryId delivery) {
  std::map<std::string, Timestamp> first;
  bool summarised = false;
  tx.query(kFirstTimes, delivery, [&](const Row& r) {
    summarised = summarised || r.text(0) == kSummary;
    first.emplace(r.string(0), r.time(1));
  });
  if (summarised) {
    tx.query(kSummaryOf, delivery, [&](const Row& r) {
      for (const auto& [type, at] : read_summary(r.text(0)).first) {
        auto& earliest = first.try_emplace(type, at).first->second;
        earliest = std::min(earliest, at);
      }
    });
  }
  std::vector<FirstTime> times;
  for (const auto& [name, at] : first) {
    if (const auto type = domain::parse_timeline_type(name)) times.push_back({*type, at});
  }
  return times;
}

}  // namespace presetbridge::storage
