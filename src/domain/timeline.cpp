#include "domain/timeline.h"

#include "domain/names.h"

namespace presetbridge::domain {

std::optional<TimelineType> parse_timeline_type(std::string_view name) {
  return parse_name<TimelineType>(kTimelineTypeNames, name);
}

std::optional<TimelineKind> parse_timeline_kind(std::string_view name) {
  return parse_name<TimelineKind>(kTimelineKindNames, name);
}

}  // namespace presetbridge::domain
