// Work whose rows throw: it is logged and set aside, so that it holds up no other.
#pragma once

#include "base/error.h"
#include "base/task.h"
#include "services/worker/fault_at.h"
#include "services/worker/leasing.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// The same transaction may go well later: no row is at fault.
bool is_passing(const Error& error);

void count_fault(const WorkerPorts& ports);

// After a transaction failed: logs the fault and leaves the work that it was at alone for some minutes
// (set_aside). Returns whether it is out of the way: false for a passing error, and where nobody knows whose
// work it was.
Task<bool> isolate(const WorkerPorts& ports, FailedWrite<LeasePlace> failed);

}  // namespace presetbridge::services
