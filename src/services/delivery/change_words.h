// The words of a delivery's changes (change.h), and the types of their timeline entries.
#pragma once

#include <string>
#include <string_view>

#include "domain/delivery_machine.h"
#include "domain/timeline.h"
#include "services/delivery/change.h"

namespace presetbridge::services {

// Returns the message that a merchant reads of a change without a message of its own: of its resolution code
// if it has one, else of its cause.
std::string usual_message(const domain::Transition& t, const Change& change);
std::string usual_message(domain::Cause cause, domain::ResolutionCode code);
// The message of a completed delivery some of whose files are no longer owed.
inline constexpr std::string_view kRestShared =
    "The files that the order still owes were shared with the customer.";

// Returns the type of the timeline entry of a transition: `action` where a person, a key or the buyer asked
// for it, else the thing that happened.
domain::TimelineType type_of(const domain::Transition& t, const domain::Actor& actor);

}  // namespace presetbridge::services
