// UUIDs of outbound events (spec 10.2): what a receiver knows an event by, and finds it by again. They hold
// the event's id, so that no index of random places is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"

namespace presetbridge::services {

// A version 8 UUID in lower-case text: the id's 63 bits, then 59 of chance. It sorts as the ids do.
std::string event_uuid(EventId event, Random& random);

// The id in such a UUID; nothing for any other text. That there is an event of that UUID it does not say.
std::optional<EventId> event_of(std::string_view uuid);

}  // namespace presetbridge::services
