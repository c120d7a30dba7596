// Objects in place of the ids that stand for them (Stripe's expand[]).
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "world.h"

namespace presetbridge::paysim {

// `paths`: as asked, "payment_intent.latest_charge", "data.line_items". Throws StripeError.
void expand(World& world, boost::json::object& object, const std::vector<std::string>& paths);

}  // namespace presetbridge::paysim
