#include "app/verbs/serve.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "app/process/hardening.h"
#include "app/process/logging.h"
#include "app/process/termination.h"
#include "app/service/service.h"
#include "app/version.h"
#include "net/runtime.h"

namespace presetbridge::app {
namespace {

constexpr int kNotServed = 1;
// The rest of the ten seconds is for the system to end the process.
constexpr Millis kStopDeadline{9'800};

}  // namespace

int serve(const Config& config, bool replace_lost_database) {
  const net::SystemClock clock;
  Termination termination(clock, kStopDeadline);
  JsonLog log(clock, parse_severity(config.log_level));  // after it: what the log still writes has a deadline
  if (!harden_process()) {
    log.error("the process cannot be protected from inspection");
    return kNotServed;
  }
  std::atomic<bool> faulty{false};
  auto service = Service::start(config, replace_lost_database, log, [&faulty] {
    faulty = true;
    ::kill(::getpid(), SIGTERM);
  });
  if (!service) {
    log.error(service.error().message, {{"code", service.error().code}});
    return kNotServed;
  }
  termination.serving();
  const std::string url = (*service)->url();
  std::printf("{\"listening\":\"%s\"}\n", url.c_str());
  std::fflush(stdout);
  log.info("serving", {{"url", url}, {"version", kVersion}, {"commit", kCommit}});
  if (config.sandbox)
    log.warn("sandbox mode: outbound webhooks may go to this machine, by plain HTTP; not for real shops");

  const int signal = termination.wait();
  log.info("stopping", {{"signal", std::int64_t{signal}}});
  (*service)->stop(termination.elapsed(), [&termination](const char* step) { termination.at(step); });
  termination.at("closing the database");
  service->reset();
  log.info("stopped", {{"milliseconds", std::int64_t{termination.elapsed().count()}}});
  termination.at("writing the log");
  return faulty ? kNotServed : 0;
}

}  // namespace presetbridge::app
