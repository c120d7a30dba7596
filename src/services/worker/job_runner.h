// Runs jobs: a step in the database, the call that it asks for, the next step (job.h), until a step asks for
// no more.
#pragma once

#include "base/background_tasks.h"
#include "services/worker/cloud_calls.h"
#include "services/worker/job.h"
#include "services/worker/job_step.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"
#include "storage/commit/batcher.h"

namespace presetbridge::services {

// Owned by the worker, on its thread; destroyed after AsyncDatabase::shutdown(). The steps of all jobs under
// way are one batch.
class JobRunner {
 public:
  // All outlive this.
  JobRunner(const WorkerPorts& ports, const WorkerOptions& options, CloudCalls& calls,
            const BackgroundTasks& tasks);

  // From a lease to its end. Once the tasks are stopping, the job ends with the answer that it waits for.
  // Where a step cannot be written, or the lease would not outlast a call, the lease runs out, and the work
  // is taken over.
  Task<void> run(Job job);

 private:
  const WorkerPorts& ports_;
  CloudCalls& calls_;
  const BackgroundTasks& tasks_;
  JobSteps steps_;
  storage::Batcher<JobAnswer, JobCall> answers_;
};

}  // namespace presetbridge::services
