// The steps of jobs: see job.h.
#pragma once

#include <set>
#include <span>

#include "services/delivery/change.h"
#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"
#include "services/worker/worker_options.h"
#include "storage/database.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

class JobSteps {
 public:
  // `call_timeout`: of the cloud port; a lease must outlast it (spec 3.4).
  JobSteps(DeliveryChanges& changes, Random& random, const WorkerOptions& options, Millis call_timeout)
      : changes_(changes), random_(random), options_(options), call_timeout_(call_timeout) {}

  // For each of the jobs takes in the answer to its last call, if it has made one, and gives the next one,
  // its intent committed with this transaction. Of a job that is lost nothing was written, and the answer is
  // refused: if it had an effect, a settlement finds it.
  void advance(storage::Tx& tx, std::span<const JobAnswer> answers, std::span<JobCall> next);

  struct Step;  // one_step.h

 private:
  // Returns the cloud accounts that have trouble.
  static std::set<CloudAccountId> lock(DeliverySet& set, std::span<const JobAnswer> answers);
  void advance(DeliverySet& set, JobCall& next, const std::optional<Answer>& answer, bool in_trouble);

  DeliveryChanges& changes_;
  Random& random_;
  const WorkerOptions& options_;
  const Millis call_timeout_;
};

}  // namespace presetbridge::services
