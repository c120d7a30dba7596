// cloudsim: a simulator of the cloud platform's contract, for local use and tests (spec 4.2).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>

#include "app/version.h"
#include "crypto/random.h"
#include "net/http_server.h"
#include "net/runtime.h"
#include "simulator.h"

namespace cloudsim = presetbridge::cloudsim;
namespace crypto = presetbridge::crypto;
namespace net = presetbridge::net;
using presetbridge::Millis;
using presetbridge::NullLog;

namespace {

constexpr int kWrongUse = 2;  // as of presetbridge

// Waits on the main thread for SIGTERM or SIGINT.
class Termination {
 public:
  void come() {
    const std::lock_guard lock(mutex_);
    came_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return came_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool came_ = false;
};

struct Arguments {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8090;
  std::uint64_t seed = 1;
  int merchants = 0;
  int files = 20;
  bool create_unknown = false;
  std::int64_t accept_delay_ms = 0;
  std::int64_t session_life_s = 3600;
};

// merchant-1@cloudsim.test with password-1, and so on.
void fill(cloudsim::World& world, const Arguments& arguments) {
  for (int i = 1; i <= arguments.merchants; ++i) {
    const std::string number = std::to_string(i);
    auto& merchant = world.put_merchant("m-" + number, "merchant-" + number,
                                        "merchant-" + number + "@cloudsim.test", "password-" + number);
    for (int f = 1; f <= arguments.files; ++f) {
      const std::string id = "m-" + number + "-f" + std::to_string(f);
      merchant.files.insert_or_assign(id, cloudsim::File{id, "preset", "Preset " + std::to_string(f), true});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "cloudsim - a simulator of the cloud platform. It is not the platform, and holds everything in "
      "memory."};
  app.add_option("--address", arguments.address, "Numeric address to listen on")->capture_default_str();
  app.add_option("--port", arguments.port, "Port to listen on; 0: any free one, printed on standard output")
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "Seed of the drawn faults")->capture_default_str();
  app.add_option("--users", arguments.merchants, "Merchant users to begin with")->capture_default_str();
  app.add_option("--files", arguments.files, "Files of each merchant user")->capture_default_str();
  app.add_flag("--create-unknown-users", arguments.create_unknown,
               "Every username that is asked for exists, and accepts friend requests");
  app.add_option("--accept-delay-ms", arguments.accept_delay_ms, "Delay of that acceptance")
      ->capture_default_str();
  app.add_option("--session-life-s", arguments.session_life_s, "Life of a session")->capture_default_str();
  app.set_version_flag(
      "--version", fmt::format("cloudsim {} ({})", presetbridge::app::kVersion, presetbridge::app::kCommit),
      "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUse;  // --help is no error
  }

  cloudsim::SimulatorOptions options;
  options.seed = arguments.seed;
  options.world.session_life = Millis{arguments.session_life_s * 1000};
  if (arguments.create_unknown) {
    options.world.unknown_users =
        cloudsim::Policy{cloudsim::Policy::Answer::accept, Millis{arguments.accept_delay_ms}};
  }

  Termination termination;
  const net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  net::Runtime runtime(1);
  cloudsim::Simulator simulator(runtime.scheduler(0), clock, random, options);
  fill(simulator.world(), arguments);
  net::HttpServerOptions server_options;
  server_options.address = arguments.address;
  server_options.port = arguments.port;
  server_options.body_bytes = 16 * 1024 * 1024;
  net::HttpServer server(runtime, simulator, random, log, server_options);
  runtime.on_termination([&termination](int) { termination.come(); });
  if (const auto listening = server.listen(); !listening) {
    std::fprintf(stderr, "cloudsim: %s\n", listening.error().message.c_str());
    return 1;
  }
  runtime.start();
  std::fprintf(stderr, "cloudsim: SIMULATOR of the cloud platform, not the platform; nothing is stored\n");
  std::printf("{\"listening\":\"http://%s:%u\"}\n", arguments.address.c_str(), unsigned{server.port()});
  std::fflush(stdout);
  termination.wait();
  runtime.run_on(0, [&simulator] { simulator.stop(); });
  server.stop(Millis{200});
  runtime.stop(Millis{200});
  return 0;
}
