#pragma once

#include <string>

#include "base/time.h"

namespace presetbridge::services {

// Of the delivery worker of one process.
struct WorkerOptions {
  std::string owner = "node";     // names this process in leases
  int jobs_per_minute = 5;        // for each cloud account (spec 3.4); 0: no limit
  int jobs_per_minute_total = 0;  // of the whole service, over all nodes; 0: no limit
  int max_jobs = 256;             // at once, in this process
  Millis lease{40'000};           // longer than a call's timeout plus a login's
  Millis poll{1'000};             // how long it may take to see what another node queued
  Millis maintenance{5'000};      // take-overs, and full scans for what may have been missed
  int sweep_page = 200;
  Millis first_sweep{60'000};  // after a friend request (spec 3.5)
};

}  // namespace presetbridge::services
