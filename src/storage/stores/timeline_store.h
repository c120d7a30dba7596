// The timeline of a delivery, entry by entry (spec 3.7).
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/timeline.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct TimelineEntry {
  std::int64_t id = 0;  // unique among the ids of all tables
  Timestamp at;
  // Nothing: an older program wrote the entry without a type, or a newer one with a type that is not known
  // here.
  std::optional<domain::TimelineType> type;
  domain::TimelineKind kind = domain::TimelineKind::action;  // likewise where the stored kind is not known
  std::string actor;                                         // domain::to_string(Actor)
  std::string status;
  std::string resolution;
  std::string message;
  std::int64_t version = 0;  // of the delivery's row when it was made
  std::int64_t attempt = 0;
  std::optional<Millis> duration = std::nullopt;
  ItemId item = {};
  std::string data = {};  // a JSON object, or empty
};

struct TimelineRow {
  DeliveryId delivery;
  TimelineEntry entry;
};

// Blanks the data of people in the timelines (spec 9.6).
void blank_timelines(Tx& tx, std::span<const DeliveryId> ids);
void append_timeline(Tx& tx, std::span<const TimelineRow> rows);
// The timelines of deliveries older than this may have been summed up (timeline_summary.h): an entry that
// is appended to one of them is noted. No retention is shorter.
inline constexpr Millis kShortestTimelines = std::chrono::days{7};

// The newest entries before the one with the id `before`, newest first; at most `limit`.
std::vector<TimelineEntry> find_timeline(Tx& tx, DeliveryId delivery, int limit,
                                         std::int64_t before = std::numeric_limits<std::int64_t>::max());
// The time of the delivery's first entry of a type. Types that are not known here are left out.
struct FirstTime {
  domain::TimelineType type;
  Timestamp at;
};
std::vector<FirstTime> find_first_times(Tx& tx, DeliveryId delivery);

}  // namespace presetbridge::storage
