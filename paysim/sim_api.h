// The tests' own API, under /sim: what buyers and banks do, faults, and a look at the books.
#pragma once

#include "net/http.h"

namespace presetbridge::paysim {

class Simulator;

net::HttpResponse answer_sim(Simulator& simulator, const net::HttpRequest& request);

}  // namespace presetbridge::paysim
