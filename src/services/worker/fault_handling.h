// Work whose rows throw is logged, counted and postponed, so that it holds up no other work.
#pragma once

#include "base/error.h"
#include "base/task.h"
#include "services/worker/leasing.h"
#include "services/worker/work_fault.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Whether the same transaction may succeed later: no row is at fault.
bool is_transient(const Error& error);

// Counts one in presetbridge_worker_faults_total.
void count_fault(const WorkerPorts& ports);

// After a transaction failed: logs and counts the fault, and postpones the work that it was at
// (services/worker/leasing.h), the customer's or, where that cannot be written, the cloud account's. Returns
// whether that was written. Does nothing, and returns false, for a transient error, and where nobody knows
// whose work it was.
Task<bool> postpone_faulty(const WorkerPorts& ports, FailedWrite<LeasedWork> failed);

}  // namespace presetbridge::services
