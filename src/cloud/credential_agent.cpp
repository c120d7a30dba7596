#include "cloud/credential_agent.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <boost/json.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>
#include <variant>

#include "base/log.h"
#include "cloud/agent_server.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"
#include "net/curl_client.h"
#include "net/resolver.h"
#include "net/runtime.h"

namespace presetbridge::cloud {
namespace {

// No core file, no debugger of the same user; freed memory is overwritten, which wipes the ordinary strings
// that libcurl and the JSON writer copy the password to. Signals of the terminal and the service manager are
// the service's: it ends this process by closing the descriptor, after its own drain.
bool harden() {
  const rlimit no_core{0, 0};
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) return false;
  ::mallopt(M_PERTURB, 0x5a);  // NOLINT(concurrency-mt-unsafe): there is no other thread yet
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  return true;
}

// To standard error, in the form of the service's log lines, among which they come.
class StandardErrorLog final : public Log {
 public:
  void write(Severity severity, std::string_view message, std::span<const LogField> fields) noexcept override
      try {
    if (severity < Severity::warn) return;
    boost::json::object line{{"time", to_iso8601(clock_.now())},
                             {"level", severity == Severity::warn ? "warn" : "error"},
                             {"message", message}};
    for (const auto& field : fields) std::visit([&](auto value) { line[field.name] = value; }, field.value);
    std::fprintf(stderr, "%s\n", boost::json::serialize(line).c_str());
  } catch (...) {  // no other output remains
  }

 private:
  const net::SystemClock clock_;
};

int give_up(Log& log, int code, const std::string& what) {
  log.error("the credential agent cannot work: " + what);
  return code;
}

template <class Integer>
bool read_integer(std::string_view text, Integer min, Integer max, Integer& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= min && out <= max;
}

}  // namespace

std::vector<std::string> agent_arguments(const AgentOptions& options) {
  return {"--cloud-url",      options.cloud.base_url,
          "--login-path",     options.cloud.paths.login,
          "--timeout-ms",     std::to_string(options.cloud.timeout.count()),
          "--key-file",       options.key_file,
          "--max-concurrent", std::to_string(options.max_concurrent)};
}

Expected<AgentOptions> parse_agent_arguments(std::span<const std::string> arguments) {
  AgentOptions options;
  bool keys_given = false;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    const std::string& value = arguments[i + 1];
    bool good = true;
    if (name == "--cloud-url") {
      options.cloud.base_url = value;
    } else if (name == "--login-path") {
      options.cloud.paths.login = value;
    } else if (name == "--timeout-ms") {
      std::int64_t timeout_ms = 0;
      good = read_integer<std::int64_t>(value, 1, 600'000, timeout_ms);
      options.cloud.timeout = Millis{timeout_ms};
    } else if (name == "--key-file") {
      options.key_file = value;
      keys_given = true;
    } else if (name == "--max-concurrent") {
      good = read_integer<std::size_t>(value, 1, 10'000, options.max_concurrent);
    } else {
      good = false;
    }
    if (!good) return fail("INVALID_ARGUMENT", "The credential agent does not understand " + name + ".");
  }
  if (arguments.size() % 2 != 0 || options.cloud.base_url.empty() || !keys_given) {
    return fail("INVALID_ARGUMENT", "The credential agent needs --cloud-url and --key-file.");
  }
  return options;
}

int run_credential_agent(int fd, const AgentOptions& options) {
  StandardErrorLog log;
  if (!harden()) return give_up(log, 3, "the process cannot be protected from inspection");
  crypto::initialise();
  std::optional<crypto::VaultKeyring> keys;
  if (!options.key_file.empty()) {
    auto read = crypto::read_vault_private_keys(options.key_file);
    if (!read) return give_up(log, 2, read.error().message);
    keys = std::move(*read);
  }

  const net::SystemClock clock;
  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClientOptions limits;
  limits.calls_per_host = static_cast<int>(options.max_concurrent);
  net::CurlClient http(runtime, 0, resolver, limits);
  HttpCloud cloud(http, clock, options.cloud);
  AgentServer server(fd, options, std::move(keys), {runtime.scheduler(0), cloud, log});
  runtime.start();
  const bool ended = server.serve();
  http.stop();
  runtime.stop(Millis{100});  // nobody is left to be answered
  return ended ? 0 : give_up(log, 4, "the service's socket failed");
}

}  // namespace presetbridge::cloud
