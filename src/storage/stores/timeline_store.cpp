#include "storage/stores/timeline_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/id_time.h"
#include "storage/row_columns.h"
#include "storage/stores/timeline_summary.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"delivery_id", &TimelineRow::delivery},
    Column{"id", [](auto& row) -> auto& { return row.entry.id; }},
    Column{"at", [](auto& row) -> auto& { return row.entry.at; }},
    Column{"kind", [](auto& row) -> auto& { return row.entry.kind; },
           kNamedOrDefault<domain::parse_timeline_kind>},
    Column{"actor", [](auto& row) -> auto& { return row.entry.actor; }},
    Column{"status", [](auto& row) -> auto& { return row.entry.status; }},
    Column{"resolution_code", [](auto& row) -> auto& { return row.entry.resolution; }, kEmptyIsNull},
    Column{"message", [](auto& row) -> auto& { return row.entry.message; }},
    Column{"type", [](auto& row) -> auto& { return row.entry.type; },
           kNamedOrNone<domain::parse_timeline_type>},
    Column{"version", [](auto& row) -> auto& { return row.entry.version; }},
    Column{"attempt", [](auto& row) -> auto& { return row.entry.attempt; }},
    Column{"duration_ms", [](auto& row) -> auto& { return row.entry.duration; }, kDuration},
    Column{"item_id", [](auto& row) -> auto& { return row.entry.item; }, kEmptyIsNull},
    Column{"data", [](auto& row) -> auto& { return row.entry.data; }, kEmptyIsNull},
};
constexpr Sql kAppendTimeline = sql<"INSERT INTO delivery_timeline ", kInsertion<kColumns>>;
constexpr Sql kFindTimeline =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM delivery_timeline WHERE delivery_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
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
  Texts texts;
  flat.reserve(kInsertWidth<kColumns> * rows.size());
  for (const auto& row : rows) add_insert<kColumns>(flat, row, texts);
  tx.exec_many(kAppendTimeline, kInsertWidth<kColumns>, flat);

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
  tx.query(kFindTimeline, delivery, before, limit,
           [&](const Row& r) { entries.push_back(std::move(read_row<TimelineRow, kColumns>(r).entry)); });
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
