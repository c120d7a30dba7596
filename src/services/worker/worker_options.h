// The settings of the delivery worker (docs/operations.md names those that an operator can change).
#pragma once

#include <string>

#include "base/time.h"

namespace presetbridge::services {

// Of one process.
struct WorkerOptions {
  std::string owner = "node";     // this process in leases
  int jobs_per_minute = 5;        // for each cloud account (spec 3.4); 0: no limit
  int jobs_per_minute_total = 0;  // of the whole service, over all nodes; 0: no limit
  int max_jobs = 256;             // jobs and sweeps at once, in this process
  Millis lease{40'000};           // longer than a call's timeout plus a login's
  Millis poll{1'000};             // until work that another node queued is seen, at most
  Millis maintenance{5'000};      // between take-overs, and between full scans for missed work
  int sweep_page = 200;           // changes in one page, at most
  Millis first_sweep{60'000};     // after a friend request (spec 3.5)
};

}  // namespace presetbridge::services
