// The composition root: every part of the running service, made in the order in which one needs another, and
// ended in the opposite one (spec 12.3).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "app/process/logging.h"
#include "base/error.h"

namespace presetbridge::app {

class Service {
 public:
  // Opens and migrates the database, makes missing keys, starts the credential agent, then threads; serves
  // when it returns. Call it in a process without threads but the one that waits for signals. `log` outlives
  // the service, and gets its thread here.
  // `on_fault` is called, on some thread, when the service can go on no more and has to be stopped.
  // `replace_lost_database`: see lay_foundation().
  static Expected<std::unique_ptr<Service>> start(Config config, bool replace_lost_database, JsonLog& log,
                                                  std::function<void()> on_fault);
  // Stops, if stop() was not called.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Where it listens, e.g. "http://127.0.0.1:8080".
  std::string url() const;
  // Accepts no more, finishes what runs for at most the drain time, of which `gone` is over already, releases
  // leases, drains storage last. `at` is called with each step as it begins. Once.
  void stop(Millis gone, const std::function<void(const char* step)>& at);

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace presetbridge::app
