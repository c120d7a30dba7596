#include "services/keys/key_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "crypto/encoding.h"
#include "services/operation/node_number.h"
#include "storage/stores/key_store.h"
#include "storage/stores/node_store.h"

namespace presetbridge::services {
namespace {

using storage::KeyUse;
using storage::Tx;

// A node that has not renewed its number twice is not there.
constexpr Millis kSeen = 2 * kNodeNumberRenewal + Millis{10'000};

template <class Key>
const Key& named(const std::vector<Key>& keys, const std::vector<std::string>& ids, const std::string& id) {
  return keys[static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin())];
}

std::unexpected<Error> lacking(const std::vector<std::string>& vault,
                               const std::vector<std::string>& service) {
  std::vector<std::string> names;
  for (const auto& id : vault) names.push_back("vault:" + id);
  for (const auto& id : service) names.push_back("service:" + id);
  return fail("KEYS_LACKING",
              fmt::format("The keys were rotated, and this node lacks {}: copy service.key, vault.key and "
                          "vault.pub from a node that has them, and start it again.",
                          fmt::join(names, ", ")));
}

}  // namespace

std::vector<KeysOfNode> nodes_at_work(Tx& tx) {
  std::vector<KeysOfNode> nodes;
  for (auto& node : storage::seen_nodes(tx, tx.now() - kSeen)) {
    KeysOfNode one{node.number, std::move(node.place), std::move(node.roles), parse_node_keys(node.keys),
                   node.keys_at};
    // One process at a time works in a folder: of several the last has come after the others were killed.
    const auto before = std::ranges::find_if(
        nodes, [&](const auto& other) { return !one.place.empty() && other.place == one.place; });
    if (before == nodes.end()) {
      nodes.push_back(std::move(one));
    } else if (before->since < one.since) {
      *before = std::move(one);
    }
  }
  return nodes;
}

KeyWatch::KeyWatch(Scheduler& scheduler, Ports ports, Options options)
    : scheduler_(scheduler),
      ports_(std::move(ports)),
      options_(std::move(options)),
      tasks_(scheduler, {.log = ports_.log, .message = "the keys are not watched any more, by a fault"}) {
  own_.number = options_.number.value_or(0);
  own_.place = options_.place;
  own_.roles = options_.roles;
}

void KeyWatch::start() {
  tasks_.start_loop(loop(), "key watch");
}

void KeyWatch::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> KeyWatch::loop() {
  bool ended = false;
  while (!tasks_.stopping()) {
    const auto polled = co_await poll(scheduler_);
    if (!polled && polled.error().code == "KEYS_LACKING" && !std::exchange(ended, true)) {
      ports_.log.error(polled.error().message);
      ports_.lost();
    } else if (!polled && !ended && !storage::is_logged(polled.error())) {
      ports_.log.warn("the keys could not be read", {{"error", polled.error().message}});
    }
    if (const auto refreshed = co_await ports_.refresh(scheduler_);
        !refreshed && !ended && !storage::is_logged(refreshed.error())) {
      ports_.log.warn("the issuer's and the links' keys could not be read",
                      {{"error", refreshed.error().message}});
    }
    co_await tasks_.wait(options_.every);
  }
}

Task<Expected<KeyWatch::Files>> KeyWatch::read_files(Executor& executor) {
  Files files;
  auto service = crypto::read_service_keys(options_.service_key);
  if (!service) co_return std::unexpected(service.error());
  auto vault = crypto::read_vault_public_keys(options_.vault_public_key);
  if (!vault) co_return std::unexpected(vault.error());
  files.service = std::move(*service);
  files.vault = std::move(*vault);
  for (const auto& key : files.service) files.keys.service.held.push_back(crypto::hex_encode(key.id));
  if (!options_.opens_logins) {
    for (const auto& key : files.vault) files.keys.vault.held.push_back(crypto::hex_encode(key.id()));
    co_return files;
  }
  const auto opens = co_await ports_.keeper.held_keys(executor);
  if (!opens) co_return fail("KEY_FILE_UNAVAILABLE", opens.error().message);
  std::erase_if(files.vault,
                [&](const auto& key) { return std::ranges::find(*opens, key.id()) == opens->end(); });
  for (const auto& key : files.vault) files.keys.vault.held.push_back(crypto::hex_encode(key.id()));
  co_return files;
}

KeysOfNode KeyWatch::take_up(Files files, const KeyState& state) {
  const std::scoped_lock lock(mutex_);
  auto& keys = files.keys;
  keys.service.sealing = sealing_key(keys.service.held, state.used_service, own_.keys.service.sealing);
  keys.vault.sealing = sealing_key(keys.vault.held, state.used_vault, own_.keys.vault.sealing);
  if (keys == own_.keys) return own_;
  for (const auto& [use, now, before] :
       {std::tuple{"vault", &keys.vault.sealing, &own_.keys.vault.sealing},
        std::tuple{"service", &keys.service.sealing, &own_.keys.service.sealing}}) {
    if (!before->empty() && *now != *before)
      ports_.log.info("another key seals from now on", {{"use", use}, {"key", *now}});
  }
  const auto sealing = named(files.service, keys.service.held, keys.service.sealing).id;
  ports_.vault_key.use(named(files.vault, keys.vault.held, keys.vault.sealing));
  ports_.cipher.hold(std::move(files.service), sealing);
  own_.keys = std::move(keys);
  own_.since = state.now;
  return own_;
}

Task<Expected<KeyState>> KeyWatch::poll(Executor& executor) {
  auto files = co_await read_files(executor);
  if (!files) co_return std::unexpected(files.error());
  auto known = co_await ports_.async_db.read(executor, [](Tx& tx) {
    return KeyState{.own = {},
                    .used_vault = storage::used_keys(tx, KeyUse::vault),
                    .used_service = storage::used_keys(tx, KeyUse::service),
                    .nodes = nodes_at_work(tx),
                    .now = tx.now()};
  });
  if (!known) co_return std::unexpected(known.error());
  const auto in_use = [this](std::string_view key, std::size_t count) {
    ports_.metrics.set("presetbridge_keys_in_use", static_cast<double>(count), {{"key", key}});
  };
  in_use("vault", known->used_vault.size());
  in_use("service", known->used_service.size());
  const auto no_vault = lacking_keys(files->keys.vault.held, known->used_vault);
  const auto no_service = lacking_keys(files->keys.service.held, known->used_service);
  if (!no_vault.empty() || !no_service.empty()) co_return lacking(no_vault, no_service);

  const auto own = take_up(std::move(*files), *known);
  known->own = own.keys;
  if (!options_.number) {
    known->nodes = {own};
    co_return std::move(*known);
  }
  // Written where it changes: the poll after a change sees it.
  const auto text = to_text(own.keys);
  const bool recorded = std::ranges::any_of(
      known->nodes, [&](const auto& node) { return node.number == own.number && node.keys == own.keys; });
  if (!recorded) {
    auto noted = co_await ports_.async_db.write(executor, [&](Tx& tx) {
      storage::note_node_keys(tx, *options_.number, options_.owner, text, options_.place);
      return nodes_at_work(tx);
    });
    if (!noted) co_return std::unexpected(noted.error());
    known->nodes = std::move(*noted);
  }
  co_return std::move(*known);
}

}  // namespace presetbridge::services
