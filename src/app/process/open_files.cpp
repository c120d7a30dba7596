#include "app/process/open_files.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "net/curl_client.h"

namespace presetbridge::app {
namespace {

constexpr std::int64_t kFewestConnections = 128;
// Standard streams, lock, agent, listener, timers, names that are looked up (16 threads with two sockets
// each), connections that were accepted and are refused or give way: 60 at most, and as many again.
constexpr std::int64_t kOthers = 128;
constexpr std::int64_t kOfAThread = 4;  // epoll, wake-up, timer; those of its HTTP client
constexpr std::int64_t kOfADatabaseConnection =
    3;  // SQLite: database, log, checkpoint; PostgreSQL: one, and its successor
constexpr std::int64_t kReadingCalls = 32;  // lists of files, issuers' keys

// Calls of an HTTP client, and what it keeps open after them.
std::int64_t of_client(std::int64_t calls) {
  return calls + std::min<std::int64_t>(calls, net::CurlClientOptions{}.idle_connections);
}

}  // namespace

std::int64_t raise_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  constexpr rlim_t kMost = 1'000'000'000;
  return static_cast<std::int64_t>(std::min(limit.rlim_cur, kMost));
}

std::int64_t own_files(const Config& config, int threads) {
  const auto writers = config.database_url.empty() ? 1 : config.storage_writers;
  return kOthers + kOfAThread * threads + kOfADatabaseConnection * (writers + config.storage_readers + 1) +
         of_client(config.cloud_concurrency) + of_client(config.outbound_concurrency) +
         of_client(kReadingCalls);
}

Expected<std::int64_t> connections_within(const Config& config, int threads, std::int64_t limit) {
  const auto own = own_files(config, threads);
  const auto fewest = std::min(config.http_connections, kFewestConnections);
  if (limit - own >= fewest) return std::min(config.http_connections, limit - own);
  return fail(
      "TOO_FEW_FILES",
      fmt::format(
          "The process may have {} files open, and needs {} with these settings: raise the hard limit "
          "(LimitNOFILE= of systemd, `ulimit -Hn` of a shell), or lower outbound.concurrency or "
          "cloud.concurrency.",
          limit, own + fewest));
}

Expected<void> fit_open_files(Config& config, int threads, Log& log) {
  const auto limit = raise_open_files();
  const auto connections = connections_within(config, threads, limit);
  if (!connections) return std::unexpected(connections.error());
  if (*connections == config.http_connections) return {};
  log.warn("the limit of open files allows fewer connections than http.connections",
           {{"connections", *connections}, {"open_files", limit}});
  config.http_connections = *connections;
  return {};
}

}  // namespace presetbridge::app
