// A whole world as JSON, so that another simulator can go on with it: GET and PUT /sim/world. Sessions are
// left out; who had one logs in again.
#pragma once

#include <boost/json/object.hpp>

#include "simulator_parts/json_fields.h"
#include "world.h"

namespace presetbridge::cloudsim {

struct WorldCopy {
  static boost::json::object of(const World& world);
  // The world is this one then. Throws Problem for what of() does not write, and changes nothing.
  static void put(World& world, const simulator_parts::JsonFields& in);
};

}  // namespace presetbridge::cloudsim
