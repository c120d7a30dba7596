#include "app/service/key_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "identity/external_sign_in.h"

namespace presetbridge::app {
namespace {

// Where this node's key files are, for the operator of several.
std::string place_of(const DataDirectory& directory) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {'?'};
  std::error_code error;
  auto folder = std::filesystem::absolute(directory.folder, error);
  if (error) folder = directory.folder;
  return std::string(host.data()) + ":" + folder.lexically_normal().string();
}

services::KeyWatch::Options watch_options(const Config& config, const DataDirectory& directory,
                                          const std::string& node, int number) {
  services::KeyWatch::Options options{.service_key = directory.service_key,
                                      .vault_public_key = directory.vault_public_key,
                                      .opens_logins = opens_logins(config),
                                      .owner = node,
                                      .place = place_of(directory),
                                      .roles = fmt::format("{}", fmt::join(config.roles, ","))};
  if (!config.database_url.empty()) options.number = number;
  return options;
}

}  // namespace

KeyParts::KeyParts(Ports ports, const Config& config, const DataDirectory& directory, const std::string& node,
                   int number)
    : ports_(std::move(ports)),
      watch_(ports_.scheduler,
             {.async_db = ports_.async_db,
              .clock = ports_.clock,
              .log = ports_.log,
              .metrics = ports_.metrics,
              .cipher = ports_.cipher,
              .vault_key = ports_.vault_key,
              .keeper = ports_.keeper,
              .refresh = [this](Executor& executor) { return refresh(executor); },
              .lost = ports_.lost},
             watch_options(config, directory, node, number)),
      rotation_({.sealing = {ports_.async_db, ports_.cipher, ports_.keeper, ports_.clock, ports_.log,
                             ports_.metrics},
                 .watch = watch_,
                 .issuer = ports_.issuer,
                 .links = ports_.links},
                {.opens_logins = opens_logins(config),
                 // The cookie of a sign-in that has begun.
                 .client_retention = config.identity_external.empty()
                                         ? Millis{0}
                                         : identity::kAttemptLifetime + std::chrono::minutes{1}}) {}

Task<Expected<void>> KeyParts::refresh(Executor& executor) {
  const auto show = [this](std::string_view key, int count) {
    ports_.metrics.set("presetbridge_keys_in_use", count, {{"key", key}});
  };
  const auto issuer = co_await ports_.issuer.reload_keys(executor);
  if (!issuer) co_return std::unexpected(issuer.error());
  show("issuer", *issuer);
  if (auto other = co_await ports_.operators_issuer.reload_keys(executor); !other)
    co_return std::unexpected(other.error());
  const auto links = co_await ports_.links.reload(executor);
  if (!links) co_return std::unexpected(links.error());
  show("links", *links);
  co_return Expected<void>{};
}

}  // namespace presetbridge::app
