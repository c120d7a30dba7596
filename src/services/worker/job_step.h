// The steps of jobs (job.h).
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

// Owned by the job runner. advance() runs on threads of the database.
class JobSteps {
 public:
  // `changes`, `random` and `options` outlive this. `call_timeout` is the cloud port's; a lease must outlast
  // it (spec 3.4).
  JobSteps(DeliveryChanges& changes, Random& random, const WorkerOptions& options, Millis call_timeout)
      : changes_(changes), random_(random), options_(options), call_timeout_(call_timeout) {}

  // Makes one step of each job: takes in the answer to its last call, if it has made one, and writes the next
  // call, whose intent commits with this transaction, to the entry of `next` at the job's position. For a
  // `lost` job nothing is written, and the answer is refused: if it had an effect, a settlement finds it.
  // `next` has the size of `answers`; each job is of another customer.
  void advance(storage::Tx& tx, std::span<const JobAnswer> answers, std::span<JobCall> next);

  struct Step;  // step.h

 private:
  // Locks the rows that the steps need. Returns the cloud accounts that have trouble, among those whose jobs
  // have an answer.
  static std::set<CloudAccountId> lock(DeliverySet& set, std::span<const JobAnswer> answers);
  void advance(DeliverySet& set, JobCall& next, const std::optional<Answer>& answer, bool in_trouble);

  DeliveryChanges& changes_;
  Random& random_;
  const WorkerOptions& options_;
  const Millis call_timeout_;
};

}  // namespace presetbridge::services
