// The words that tell of a change of a delivery (change.h).
#pragma once

#include <string>
#include <string_view>

#include "domain/delivery_machine.h"
#include "services/delivery/change.h"

namespace presetbridge::services {

// What a merchant reads of a change that brought no words of its own.
std::string usual_message(const domain::Transition& t, const Change& change);

// Names the type of the timeline entry that tells of a transition (view.h): what happened, or `action` where
// a person, a key or the buyer asked for it.
std::string_view type_of(const domain::Transition& t, const domain::Actor& actor);

}  // namespace presetbridge::services
