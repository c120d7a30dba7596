#include "services/worker/faulty_work.h"

namespace presetbridge::services {

bool is_passing(const Error& error) {
  return error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED";
}

void count_fault(const WorkerPorts& ports) {
  ports.metrics.count("presetbridge_worker_faults_total");
}

Task<bool> isolate(const WorkerPorts& ports, FailedWrite<LeasePlace> failed) {
  auto& [error, at] = failed;
  if (is_passing(error) || (!at.cloud_account && !at.customer)) co_return false;
  ports.log.error("work that fails here is left alone for some minutes",
                  {{"cloudAccount", at.cloud_account ? to_string(at.cloud_account) : std::string()},
                   {"customer", at.customer ? to_string(at.customer) : std::string()},
                   {"error", error.message}});
  count_fault(ports);
  auto done = co_await ports.async_db.write(ports.scheduler, [at](storage::Tx& tx) { set_aside(tx, at); });
  if (!done && !is_passing(done.error()) && at.customer && at.cloud_account) {
    at.customer = {};
    done = co_await ports.async_db.write(ports.scheduler, [at](storage::Tx& tx) { set_aside(tx, at); });
  }
  co_return done.has_value();
}

}  // namespace presetbridge::services
