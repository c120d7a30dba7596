// Retention of timelines (spec 9.6): the old attempts on a delivery become one entry of the type `summary`,
// which tells how many there were, and when each kind of thing first happened. What somebody did stays.
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
  // When a thing of each type first happened.
  std::map<std::string, Timestamp, std::less<>> first;
  void add(std::string_view type, Timestamp at);
  // An earlier summary becomes part of this one.
  void add(const TimelineSummary& other);
};
// JSON: {"attempts", "first": {type: milliseconds}}. Damage reads as nothing.
std::string encode(const TimelineSummary& summary);
TimelineSummary read_summary(std::string_view text);

struct CollapsedPiece {
  std::int64_t collapsed = 0;  // entries that went
  bool more = false;
};
// Those older than `before`, which is `kept` ago, of the next deliveries of the way that begins where it last
// ended; of `limit` entries at most.
CollapsedPiece collapse_timelines(Tx& tx, Timestamp before, Millis kept, int limit);
// Likewise of a delivery that got entries behind that way, when these are old.
CollapsedPiece collapse_revisited(Tx& tx, Timestamp before, Millis kept, int limit);

}  // namespace presetbridge::storage
