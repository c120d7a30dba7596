// The simulator as an HTTP handler: contract and inspection over one world, with faults. Runs on one thread,
// that of `scheduler`.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/wakeup.h"
#include "call_log.h"
#include "faults.h"
#include "net/http.h"
#include "platform_api.h"
#include "world.h"

namespace presetbridge::cloudsim {

struct SimulatorOptions {
  std::uint64_t seed = 1;
  WorldOptions world;
  std::size_t logged_calls = 100'000;
};

class Simulator final : public net::HttpHandler {
 public:
  // All but `options` must outlive this.
  Simulator(Scheduler& scheduler, const Clock& clock, Random& random, SimulatorOptions options);

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

  // Ends all delays: a call that has had no effect yet is dropped. On the scheduler's thread, once.
  void stop();
  // Empties the world, ends sessions, faults and the log.
  void reset();

  World& world() { return *world_; }
  FaultPlan& faults() { return *faults_; }
  CallLog& log() { return log_; }
  Timestamp now() const { return clock_.now(); }

 private:
  Task<void> pass(Millis time);
  Task<net::HttpResponse> platform(PlatformCall call, net::HttpRequest request);

  Scheduler& scheduler_;
  const Clock& clock_;
  Random& random_;
  const SimulatorOptions options_;
  std::unique_ptr<World> world_;
  std::unique_ptr<FaultPlan> faults_;
  CallLog log_;
  std::set<Wakeup*> delays_;  // of the calls that wait
  bool stopping_ = false;
};

}  // namespace presetbridge::cloudsim
