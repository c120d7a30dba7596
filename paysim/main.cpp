// paysim: a simulator of Stripe's API as far as a Checkout needs it, for local use and tests (spec 11.4).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "app/version.h"
#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "net/curl_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/runtime.h"
#include "simulator.h"

namespace crypto = presetbridge::crypto;
namespace net = presetbridge::net;
namespace paysim = presetbridge::paysim;
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
  std::uint16_t port = 8091;
  std::uint64_t seed = 1;
  std::string secret_key;
  std::string api_version = "2026-10-28.endive";
  std::string webhook_url;
  std::vector<std::string> webhook_secrets;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "paysim - a simulator of Stripe's API, as far as a Checkout needs it. It is not Stripe, moves no money "
      "and holds everything in memory."};
  app.add_option("--address", arguments.address, "Numeric address of loopback to listen on")
      ->capture_default_str();
  app.add_option("--port", arguments.port, "Port to listen on; 0: any free one, printed on standard output")
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "Seed of the drawn faults")->capture_default_str();
  app.add_option("--secret-key", arguments.secret_key,
                 "The only API key that is taken, sk_test_... (default: all of test mode)");
  app.add_option("--api-version", arguments.api_version, "Stripe's API version that events name")
      ->capture_default_str();
  app.add_option("--webhook-url", arguments.webhook_url, "Where events are posted: http, on loopback");
  app.add_option("--webhook-secret", arguments.webhook_secrets,
                 "Secret that signs events; several while a rotation overlaps (default: a new one, printed "
                 "on standard output)");
  app.set_version_flag("--version",
                       fmt::format("paysim {} ({})", presetbridge::app::kVersion, presetbridge::app::kCommit),
                       "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUse;  // --help is no error
  }
  const auto misuse = [](const std::string& message) {
    std::fprintf(stderr, "paysim: %s\n", message.c_str());
    return kWrongUse;
  };
  const auto address = net::IpAddress::parse(arguments.address);
  if (!address || !address->is_loopback()) return misuse("--address is not one of loopback");
  if (!arguments.secret_key.empty() && !arguments.secret_key.starts_with("sk_test_")) {
    return misuse("--secret-key does not begin with sk_test_: a simulator takes no live key");
  }
  if (!arguments.webhook_url.empty()) {
    const auto problem = paysim::problem_of_endpoint(arguments.webhook_url);
    if (!problem.empty()) return misuse("--webhook-url: " + problem);
  }

  Termination termination;
  const net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClient http(runtime, 0, resolver, {.user_agent = "paysim (simulator)", .ca_file = {}});
  std::string made_secret;
  if (arguments.webhook_secrets.empty()) {
    made_secret = crypto::generate_webhook_secret(random);
    arguments.webhook_secrets.push_back(made_secret);
  }
  paysim::SimulatorOptions options;
  options.seed = arguments.seed;
  options.secret_key = arguments.secret_key;
  options.api_version = arguments.api_version;
  options.webhooks.url = arguments.webhook_url;
  options.webhooks.secrets = arguments.webhook_secrets;
  options.webhooks.retry_after = paysim::default_retries();
  paysim::Simulator simulator(runtime.scheduler(0), clock, random, http, log, options);
  net::HttpServerOptions server_options;
  server_options.address = arguments.address;
  server_options.port = arguments.port;
  server_options.body_bytes = 1024UL * 1024;
  net::HttpServer server(runtime, simulator, random, log, server_options);
  runtime.on_termination([&termination](int) { termination.come(); });
  if (const auto listening = server.listen(); !listening) {
    std::fprintf(stderr, "paysim: %s\n", listening.error().message.c_str());
    return 1;
  }
  const std::string host = address->is_v4() ? arguments.address : "[" + arguments.address + "]";
  const std::string url = "http://" + host + ":" + std::to_string(server.port());
  simulator.set_page_url(url);
  runtime.start();
  std::fprintf(stderr, "paysim: SIMULATOR of Stripe, not Stripe; no money moves and nothing is stored\n");
  const std::string secret = made_secret.empty() ? "" : ",\"webhookSecret\":\"" + made_secret + "\"";
  std::printf("{\"listening\":\"%s\"%s}\n", url.c_str(), secret.c_str());
  std::fflush(stdout);
  termination.wait();
  std::promise<void> stopped;
  runtime.run_on(0, [&] { simulator.stop([&stopped] { stopped.set_value(); }); });
  http.stop();
  stopped.get_future().wait();
  server.stop(Millis{200});
  runtime.stop(Millis{200});
  return 0;
}
