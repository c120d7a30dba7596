// /sim/...: how tests and people set the simulator up, make it fail, and look at what had an effect.
// Described in docs/cloud-platform.md. No authentication: the simulator listens on loopback.
#pragma once

#include "net/http.h"

namespace presetbridge::cloudsim {

class Simulator;

// A request that is not understood answers 400 and changes nothing, or what stood before the fault in a list.
net::HttpResponse answer_sim(Simulator& simulator, const net::HttpRequest& request);

}  // namespace presetbridge::cloudsim
