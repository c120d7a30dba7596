#include "app/serve.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "app/logging.h"
#include "app/service.h"
#include "app/version.h"
#include "net/runtime.h"

namespace presetbridge::app {
namespace {

constexpr int kNotServed = 1;
constexpr int kStuck = 3;
constexpr std::chrono::milliseconds kStopDeadline{9'800};

// Ends the process when the stop does not end by itself. Leases then run out, and what was under way is
// looked up by whoever takes over: that is what they are for.
class StopDeadline {
 public:
  explicit StopDeadline(Log& log)
      : thread_([this, &log](const std::stop_token& done) { watch(done, log); }) {}

 private:
  void watch(const std::stop_token& done, Log& log) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, done, kStopDeadline, [] { return false; });
    if (done.stop_requested()) return;
    log.error("the service did not stop in time and is ended", {{"seconds", std::int64_t{10}}});
    ::usleep(50'000);  // for the line above
    std::_Exit(kStuck);
  }
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

}  // namespace

int serve(const Config& config) {
  const net::SystemClock clock;
  JsonLog log(clock, parse_severity(config.log_level));
  if (!harden_process()) {
    log.error("the process cannot be protected from inspection");
    return kNotServed;
  }
  auto service = Service::start(config, log);
  if (!service) {
    log.error(service.error().message, {{"code", service.error().code}});
    return kNotServed;
  }
  const std::string url = (*service)->url();
  std::printf("{\"listening\":\"%s\"}\n", url.c_str());
  std::fflush(stdout);
  log.info("serving", {{"url", url}, {"version", kVersion}, {"commit", kCommit}});
  if (config.sandbox)
    log.warn("sandbox mode: outbound webhooks may go to this machine, by plain HTTP; not for real shops");

  const int signal = (*service)->wait_for_termination();
  log.info("stopping", {{"signal", std::int64_t{signal}}});
  {
    const StopDeadline deadline(log);
    service->reset();
  }
  log.info("stopped");
  return 0;
}

}  // namespace presetbridge::app
