#include "services/worker/job_runner.h"

#include "services/worker/fault_handling.h"

namespace presetbridge::services {

JobRunner::JobRunner(const WorkerPorts& ports, const WorkerOptions& options, CloudCalls& calls,
                     const BackgroundTasks& tasks)
    : ports_(ports),
      calls_(calls),
      tasks_(tasks),
      steps_(ports.changes, ports.random, options, ports.cloud.call_timeout()),
      answers_(ports.async_db, [this](storage::Tx& tx, std::span<const JobAnswer> answers,
                                      std::span<JobCall> next) { steps_.advance(tx, answers, next); }) {}

Task<void> JobRunner::run(Job job) {
  const LeasedWork work{job.cloud_account, job.customer, job.fence};
  JobAnswer last{std::move(job), {}};
  while (true) {
    last.job.shutting_down = tasks_.stopping();
    auto next = co_await answers_.add(ports_.scheduler, std::move(last));
    if (!next) {
      if (!is_transient(next.error())) {
        co_await postpone_faulty(ports_, {next.error(), work});
      } else if (!storage::is_told(next.error())) {
        ports_.log.error("a step of a job could not be written; its lease will run out",
                         {{"customer", to_string(work.customer)}, {"error", next.error().message}});
      }
      co_return;
    }
    if (!next->call) co_return;
    auto answer = co_await calls_.make(*next->call, next->job);
    if (!answer) {
      ports_.log.warn("a lease would not have outlasted a call to the cloud platform; it runs out",
                      {{"customer", to_string(work.customer)}});
      co_return;
    }
    last = {std::move(next->job), std::move(answer)};
  }
}

}  // namespace presetbridge::services
