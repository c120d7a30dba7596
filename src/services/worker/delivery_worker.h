// The delivery worker (spec 3.2-3.5): it owns the parts that do the work, starts and stops them, and wakes
// them. All of its state that matters is in the database; what it holds in memory may vanish at any moment.
#pragma once

#include <memory>

#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// All but wake() are called on the scheduler's thread. Destroyed after `stopped`, and after
// AsyncDatabase::shutdown().
class DeliveryWorker {
 public:
  // Throws std::invalid_argument if a lease would not outlast a call of the cloud port (spec 3.4).
  DeliveryWorker(WorkerPorts ports, WorkerOptions options);
  ~DeliveryWorker();

  void start();
  // No new jobs; those under way end after the call they are in. `stopped` is called once, when the last has
  // ended. What is left then is released to be taken up at once.
  void stop(Callback stopped);
  // There may be work now. Thread-safe, cheap.
  void wake();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace presetbridge::services
