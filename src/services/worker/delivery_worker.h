// The delivery worker (spec 3.2-3.5): it owns the parts that do the work, starts, stops and wakes them. All
// of its state that matters is in the database; its memory may be lost at any moment.
#pragma once

#include <memory>

#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// All but wake() are called on the scheduler's thread. Destroyed after `stopped` was called, and after
// AsyncDatabase::shutdown().
class DeliveryWorker {
 public:
  // Throws std::invalid_argument if a lease would not outlast a call of the cloud port (spec 3.4).
  DeliveryWorker(WorkerPorts ports, WorkerOptions options);
  ~DeliveryWorker();

  void start();
  // Starts no more jobs. Jobs under way end with the answer to their present call and release their
  // deliveries, which another worker may take at once. `stopped` is called once, when the last has ended.
  void stop(Callback stopped);
  // There may be work now. Any thread; cheap.
  void wake();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace presetbridge::services
