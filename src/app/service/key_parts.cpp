#include "app/service/key_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <boost/json/array.hpp>
#include <filesystem>
#include <utility>

#include "app/admin/admin_request.h"
#include "base/split.h"
#include "identity/external_sign_in.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;
using services::KeyKinds;

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

Expected<KeyKinds> kinds_of(const json::object& request) {
  KeyKinds kinds;
  for (const auto& name : split(text_of(request, "kinds"), ',')) {
    const auto kind = services::parse_key_kind(name);
    if (!kind) return fail("VALIDATION_FAILED", "There are no keys of the kind " + name + ".");
    kinds.insert(*kind);
  }
  if (kinds.empty()) return fail("VALIDATION_FAILED", "Some kind of keys is needed.");
  return kinds;
}

// Passes on the errors that the channel has a status for; the operator reads the other reasons as text.
std::unexpected<Error> for_channel(const Error& error) {
  const bool known =
      error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED" || error.code == "INTERNAL_ERROR";
  return known ? std::unexpected(error) : fail("CONFLICT", error.message);
}

json::array texts(const std::vector<std::string>& all) {
  json::array shown;
  for (const auto& one : all) shown.emplace_back(one);
  return shown;
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
                 .kept_by_clients = config.identity_external.empty()
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

Task<Expected<json::object>> KeyParts::run(Executor& executor, json::object request) {
  const auto command = text_of(request, "command");
  if (command == "keys") {
    const auto standing = co_await rotation_.standing(executor);
    if (!standing) co_return for_channel(standing.error());
    json::array keys;
    for (const auto& one : *standing) {
      keys.push_back(json::object{{"kind", to_string(one.kind)},
                                  {"newest", one.newest},
                                  {"old", texts(one.old)},
                                  {"waiting", one.waiting}});
    }
    co_return json::object{{"keys", std::move(keys)}};
  }
  const auto kinds = kinds_of(request);
  if (!kinds) co_return std::unexpected(kinds.error());
  const bool begin = integer_of(request, "begin") != 0;
  if (command == "turn-keys") {
    const auto step = co_await rotation_.turn(executor, *kinds, begin);
    if (!step) co_return for_channel(step.error());
    json::array nodes;
    for (const auto& node : step->nodes)
      nodes.push_back(json::object{{"name", node.name}, {"lacks", texts(node.lacks)}});
    co_return json::object{{"phase", to_string(step->phase)},    {"nodes", std::move(nodes)},
                           {"lookedAt", step->counts.looked_at}, {"resealed", step->counts.resealed},
                           {"left", step->counts.left()},        {"unreadable", step->counts.unreadable}};
  }
  const auto step = co_await rotation_.drop(executor, *kinds, begin, integer_of(request, "now") != 0);
  if (!step) co_return for_channel(step.error());
  json::array dropped;
  for (const auto& one : step->kinds) {
    dropped.push_back(
        json::object{{"kind", to_string(one.kind)}, {"dropped", texts(one.dropped)}, {"kept", one.kept}});
  }
  co_return json::object{
      {"done", step->done}, {"lookedAt", step->counts.looked_at}, {"kinds", std::move(dropped)}};
}

}  // namespace presetbridge::app
