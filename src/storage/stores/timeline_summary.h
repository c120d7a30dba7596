// Retention of timelines (spec 9.6): the old attempts on a delivery become one entry of the type `summary`,
// which has their number, and the time of the first of each type. The entries of what somebody did stay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "domain/timeline.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The type's name, as it is stored.
inline constexpr std::string_view kSummary = to_string(domain::TimelineType::summary);

struct TimelineSummary {
  std::int64_t attempts = 0;
  // The time of the first entry of each type.
  std::map<std::string, Timestamp, std::less<>> first;
  void add(std::string_view type, Timestamp at);
  // An earlier summary becomes part of this one.
  void add(const TimelineSummary& other);
};
// JSON: {"attempts", "first": {type: milliseconds}}. A damaged text is read as an empty summary.
std::string encode(const TimelineSummary& summary);
TimelineSummary read_summary(std::string_view text);

struct CollapsedBatch {
  std::int64_t collapsed = 0;  // entries that were deleted
  bool more = false;
};
// Sums up the attempts older than `before`, which is `retention` ago, of the next deliveries: the scan
// begins where it last ended, and reads at most `limit` entries.
CollapsedBatch collapse_timelines(Tx& tx, Timestamp before, Millis retention, int limit);
// Likewise for one delivery that got entries after the scan had passed it, once these are old.
CollapsedBatch collapse_revisited(Tx& tx, Timestamp before, Millis retention, int limit);

}  // namespace presetbridge::storage
