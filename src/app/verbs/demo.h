// `presetbridge demo` (spec 12.2): the whole bridge on this machine, to be tried: a simulated cloud platform,
// the service in sandbox mode, a merchant with credits, a store of each kind with a mapped item, and a
// receiver of webhooks that prints what comes. It needs no more than this program and `cloudsim`.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace presetbridge::app {

struct DemoOptions {
  std::string folder = "presetbridge-demo";  // begins anew each time
  std::uint16_t port = 0;                    // of the service on 127.0.0.1; 0: any free one
  std::uint16_t cloud_port = 0;              // of the simulated platform
  std::string cloudsim;                      // empty: beside this program
};

// Runs until SIGINT, SIGTERM or SIGHUP. Its programs end with it, however this process ends. 0: stopped by a
// signal. 1: it could not start, or a program of it ended by itself. Called in a process without threads.
int run_demo(const DemoOptions& options, std::ostream& out, std::ostream& err);

}  // namespace presetbridge::app
