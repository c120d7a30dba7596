// One step of a job: see job.h.
#pragma once

#include <optional>

#include "services/delivery/change.h"
#include "services/worker/job.h"
#include "storage/customer_store.h"
#include "storage/database.h"

namespace presetbridge::services {

class JobSteps {
 public:
  // `call_timeout`: of the cloud port; a lease must outlast it (spec 3.4).
  JobSteps(DeliveryChanges& changes, Random& random, const WorkerOptions& options, Millis call_timeout)
      : changes_(changes), random_(random), options_(options), call_timeout_(call_timeout) {}

  // Begins the job that has just been given the customer's lease: takes the deliveries and returns the first
  // call, or `done` where there was nothing to ask. The customer's row is locked by this transaction, carries
  // the lease, and is written here.
  Call begin(storage::Tx& tx, Job& job, storage::CustomerRow customer);
  // Takes in `answer` to the job's last call and returns the next one, its intent committed with this
  // transaction. `done`: the job has ended and its lease is released. `lost`: the lease was taken over;
  // nothing was written, and the answer is refused: if it had an effect, a settlement finds it.
  Call advance(storage::Tx& tx, Job& job, const Answer& answer);

 private:
  struct Step;
  DeliveryChanges& changes_;
  Random& random_;
  const WorkerOptions& options_;
  const Millis call_timeout_;
};

}  // namespace presetbridge::services
