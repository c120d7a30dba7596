// Runs jobs (job.h): a step in the database, the call that the step returns, the next step, until a step
// returns none.
#pragma once

#include "base/background_tasks.h"
#include "services/worker/cloud_calls.h"
#include "services/worker/job.h"
#include "services/worker/job_step.h"
#include "services/worker/worker_options.h"
#include "services/worker/worker_ports.h"
#include "storage/commit/batcher.h"

namespace presetbridge::services {

// Owned by the worker, on its thread; destroyed after AsyncDatabase::shutdown(). Steps of different jobs that
// wait at one time are one batch (storage/commit/batcher.h).
class JobRunner {
 public:
  // `ports`, `options`, `calls` and `tasks` outlive this.
  JobRunner(const WorkerPorts& ports, const WorkerOptions& options, CloudCalls& calls,
            const BackgroundTasks& tasks);

  // Runs a leased job to its end. Once `tasks` are stopping, the job ends with the answer that it waits for.
  // Where a step cannot be written, or the lease would not outlast a call, the job ends without a step: its
  // lease runs out, and the work is taken over (spec 3.4).
  Task<void> run(Job job);

 private:
  const WorkerPorts& ports_;
  CloudCalls& calls_;
  const BackgroundTasks& tasks_;
  JobSteps steps_;
  storage::Batcher<JobAnswer, JobCall> answers_;
};

}  // namespace presetbridge::services
