#include "services/worker/fault_handling.h"

namespace presetbridge::services {

bool is_transient(const Error& error) {
  return error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED";
}

void count_fault(const WorkerPorts& ports) {
  ports.metrics.count("presetbridge_worker_faults_total");
}

Task<bool> postpone_faulty(const WorkerPorts& ports, FailedWrite<LeasedWork> failed) {
  auto& [error, work] = failed;
  if (is_transient(error) || (!work.cloud_account && !work.customer)) co_return false;
  ports.log.error("work that fails here is left alone for some minutes",
                  {{"cloudAccount", work.cloud_account ? to_string(work.cloud_account) : std::string()},
                   {"customer", work.customer ? to_string(work.customer) : std::string()},
                   {"error", error.message}});
  count_fault(ports);
  auto done = co_await ports.async_db.write(ports.scheduler, [work](storage::Tx& tx) { postpone(tx, work); });
  if (!done && !is_transient(done.error()) && work.customer && work.cloud_account) {
    work.customer = {};
    done = co_await ports.async_db.write(ports.scheduler, [work](storage::Tx& tx) { postpone(tx, work); });
  }
  co_return done.has_value();
}

}  // namespace presetbridge::services
