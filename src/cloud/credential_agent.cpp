#include "cloud/credential_agent.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "cloud/agent_protocol.h"
#include "cloud/contract.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"
#include "net/curl_client.h"
#include "net/resolver.h"
#include "net/runtime.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

std::unexpected<CloudError> refuse(Kind kind, const char* message) {
  return std::unexpected(CloudError{kind, message, false, std::nullopt});
}

// What the logins share. Lives on the one core of the runtime, `in_flight` aside.
struct Agent {
  const int fd;
  const AgentOptions& options;
  std::optional<crypto::VaultKeyring> keys;  // none: it opens no stored logins
  net::HttpClient& http;
  const Clock& clock;
  Executor& executor;
  std::atomic<std::size_t> in_flight{0};
};

void answer(int fd, AgentReply reply) {
  const auto packet = encode(reply);
  // A service that is gone needs no answer; the loop below sees its end.
  [[maybe_unused]] const auto sent = ::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_EOR);
}

CloudResult<CloudLogin> open_record(Agent& agent, const SealedRecord& sealed) {
  const crypto::RecordPlace place{sealed.account, sealed.version};
  if (!agent.keys)
    return refuse(Kind::credentials_unreadable, "This credential agent opens no stored logins.");
  auto text = agent.keys->open(place, sealed.record);
  if (!text && text.error().code == "UNKNOWN_VAULT_KEY") {
    // The vault's keys were rotated since they were read (spec 5.4).
    if (auto keys = crypto::read_vault_private_keys(agent.options.key_file)) {
      agent.keys = std::move(*keys);
      text = agent.keys->open(place, sealed.record);
    }
  }
  if (!text) {
    return refuse(Kind::credentials_unreadable,
                  text.error().code == "UNKNOWN_VAULT_KEY"
                      ? "The stored login is sealed to a vault key that the credential agent does not hold."
                      : "The stored login was altered and cannot be read.");
  }
  auto login = decode_cloud_login(text->reveal());
  if (!login) return refuse(Kind::credentials_unreadable, "The stored login is not one.");
  return std::move(*login);
}

std::string login_body(const CloudLogin& login) {
  const boost::json::object body{{"email", login.email}, {"password", login.password.reveal()}};
  return boost::json::serialize(body);
}

Task<void> serve(Agent& agent, AgentRequest request) {
  CloudResult<CloudLogin> login = refuse(Kind::rejected, "");
  if (const auto* sealed = std::get_if<SealedRecord>(&request.login)) {
    login = open_record(agent, *sealed);
  } else {
    login = std::move(std::get<CloudLogin>(request.login));
  }
  AgentReply reply{request.id, refuse(Kind::rejected, "")};
  if (login) {
    reply.result =
        co_await log_in(agent.http, agent.clock, agent.executor, agent.options.cloud, login_body(*login));
  } else {
    reply.result = std::unexpected(login.error());
  }
  answer(agent.fd, std::move(reply));
  --agent.in_flight;
}

// Returns at the end of the service, or false when the descriptor fails.
bool serve_all(Agent& agent) {
  std::array<std::byte, max_agent_packet> buffer;
  while (true) {
    const auto size = ::recv(agent.fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (size == 0) return true;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == ECONNRESET;
    if (static_cast<std::size_t>(size) > buffer.size()) return false;
    auto request = decode_agent_request(crypto::ByteView(buffer).first(static_cast<std::size_t>(size)));
    crypto::wipe(std::span(buffer));
    if (!request) return false;
    if (agent.in_flight >= agent.options.max_concurrent) {
      answer(agent.fd, {request->id, refuse(Kind::unavailable, "Too many cloud logins at once.")});
      continue;
    }
    ++agent.in_flight;
    agent.executor.post([&agent, owned = std::move(*request)]() mutable {
      spawn(serve(agent, std::move(owned)), [](Outcome<void>) {});
    });
  }
}

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

// Of the form of the service's log lines, among which it comes.
int give_up(int code, const std::string& what) {
  const boost::json::object line{{"time", to_iso8601(net::SystemClock().now())},
                                 {"level", "error"},
                                 {"message", "the credential agent cannot work: " + what}};
  std::fprintf(stderr, "%s\n", boost::json::serialize(line).c_str());
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
  bool keys_told = false;
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
      keys_told = true;
    } else if (name == "--max-concurrent") {
      good = read_integer<std::size_t>(value, 1, 10'000, options.max_concurrent);
    } else {
      good = false;
    }
    if (!good) return fail("INVALID_ARGUMENT", "The credential agent does not understand " + name + ".");
  }
  if (arguments.size() % 2 != 0 || options.cloud.base_url.empty() || !keys_told) {
    return fail("INVALID_ARGUMENT", "The credential agent needs --cloud-url and --key-file.");
  }
  return options;
}

int run_credential_agent(int fd, const AgentOptions& options) {
  if (!harden()) return give_up(3, "the process cannot be protected from inspection");
  crypto::initialise();
  std::optional<crypto::VaultKeyring> keys;
  if (!options.key_file.empty()) {
    auto read = crypto::read_vault_private_keys(options.key_file);
    if (!read) return give_up(2, read.error().message);
    keys = std::move(*read);
  }

  const net::SystemClock clock;
  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClientOptions limits;
  limits.calls_per_host = static_cast<int>(options.max_concurrent);
  net::CurlClient http(runtime, 0, resolver, limits);
  Agent agent{fd, options, std::move(keys), http, clock, runtime.scheduler(0)};
  runtime.start();
  const bool ended = serve_all(agent);
  http.stop();
  runtime.stop(Millis{100});  // nobody is left to be answered
  return ended ? 0 : give_up(4, "the service's socket failed");
}

}  // namespace presetbridge::cloud
