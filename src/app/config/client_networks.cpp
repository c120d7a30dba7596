#include "app/config/client_networks.h"

#include <algorithm>
#include <chrono>

namespace presetbridge::app {
namespace {

constexpr std::int64_t kShares = 8;
constexpr std::int64_t kFewestOfANetwork = 8;
constexpr int kReadersOfADelivery = 8;

}  // namespace

std::vector<net::IpNetwork> trusted_proxies(const Config& config) {
  std::vector<net::IpNetwork> proxies;
  for (const auto& text : config.http_trusted_proxies) proxies.push_back(net::IpNetwork::parse(text).value());
  return proxies;
}

net::NetworkBudget::Limits failed_request_limits(const Config& config) {
  return {.failures = config.http_failures_per_address, .window = std::chrono::minutes{1}};
}

net::NetworkBudget::Limits failed_sign_in_limits(const Config& config) {
  return {.failures = config.identity_failures_per_address, .window = std::chrono::hours{1}};
}

ReaderShares reader_shares(const Config& config) {
  const auto all = std::min(config.live_readers, config.http_connections / 2);
  const auto buyers = all / 4;
  const auto share = std::max(all / kShares, kFewestOfANetwork);
  return {.of_accounts = static_cast<int>(all - buyers),
          .of_buyers = static_cast<int>(buyers),
          .of_account = static_cast<int>(std::min(config.live_readers_per_account, share)),
          .of_delivery = kReadersOfADelivery,
          .of_network = static_cast<int>(share)};
}

net::HttpServerOptions server_options(const Config& config, const ListenAddress& listen) {
  net::HttpServerOptions options{.address = listen.address,
                                 .port = listen.port,
                                 .body_bytes = static_cast<std::size_t>(config.limits_body_bytes),
                                 .stream_write_deadline = std::chrono::seconds(config.live_write_seconds),
                                 .connections = static_cast<int>(config.http_connections)};
  options.connections_per_network =
      static_cast<int>(std::max(config.http_connections / kShares, kFewestOfANetwork));
  options.shared_networks = trusted_proxies(config);
  for (const auto* loopback : {"127.0.0.0/8", "::1"})
    options.shared_networks.push_back(net::IpNetwork::parse(loopback).value());
  return options;
}

}  // namespace presetbridge::app
