#include "app/foundation/foundation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/foundation/used_keys_mark.h"
#include "crypto/encoding.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"
#include "services/keys/node_keys.h"
#include "services/operation/node_number.h"
#include "storage/copy/copy.h"
#include "storage/postgres/node_roles.h"
#include "storage/schema/migrations.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/key_store.h"
#include "storage/stores/node_store.h"

namespace presetbridge::app {
namespace {

// Keys are made for a new deployment. Where the database holds what the missing ones would open, new ones
// would hide the loss until all that was stored is of no use any more.
Expected<void> check_for_lost_keys(const DataDirectory& directory, storage::Database& database) {
  const auto exists = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  bool logins = false;
  bool secrets = false;
  database.read([&](storage::Tx& tx) {
    logins = storage::has_credentials(tx);
    secrets = !storage::issuer_keys(tx).empty();
  });
  if (secrets && !exists(directory.service_key)) {
    return fail("KEY_FILE_MISSING", "The service key " + directory.service_key.string() +
                                        " is missing, and the database holds secrets that only it opens: "
                                        "restore it from the backup, or copy it from another node.");
  }
  if (logins && !exists(directory.vault_private_key) && !exists(directory.vault_public_key)) {
    return fail("KEY_FILE_MISSING",
                "The vault's keys " + directory.vault_private_key.string() + " and " +
                    directory.vault_public_key.string() +
                    " are missing, and the database holds logins that only they open: restore them from the "
                    "backup, or copy them from another node. If nobody has them any more, make new ones with "
                    "`presetbridge vault init --replace-lost` and have every login saved again.");
  }
  return {};
}

// An empty service would look like one that works, until people cannot sign in and orders find no store.
std::unexpected<Error> database_missing(const Config& config, const DataDirectory& directory,
                                        const char* what) {
  const bool shared = !config.database_url.empty();
  return fail(
      "DATABASE_MISSING",
      fmt::format("{} {}, but the keys in {} were used with one: restore it from the backup or correct "
                  "{}, or, if it is lost for good, begin anew with an empty one by `presetbridge serve "
                  "--replace-lost-database`.",
                  shared ? "The database of database_url" : "The database " + directory.database.string(),
                  what, directory.folder.string(), shared ? "database_url" : "data_dir or storage.path"));
}

// Opening would make it.
bool has_no_file(const Config& config, const DataDirectory& directory) {
  std::error_code error;
  if (!config.database_url.empty()) return false;
  const auto size = std::filesystem::file_size(directory.database, error);
  return (error && error == std::errc::no_such_file_or_directory) || (!error && size == 0);
}

// Whether the folder holds a database that was to be copied: then the error names that.
bool can_be_copied(const Config& config, const DataDirectory& directory) {
  std::error_code unknown;
  return !config.database_url.empty() && std::filesystem::exists(directory.database, unknown);
}

// Half a database would be served, and what came in meanwhile stop the copy.
Expected<void> check_for_unfinished_copy(storage::Tx& tx, std::string_view engine) {
  if (!storage::copy_unfinished(tx, engine)) return {};
  return fail(
      "COPY_UNFINISHED",
      "The database is the target of a copy that has not ended: run the same `presetbridge copy` again "
      "until it says that all is equal, then start.");
}

// The keys of the folder, newest first.
struct Keys {
  std::vector<crypto::ServiceKey> service;
  std::vector<crypto::VaultPublicKey> vault;
  services::NodeKeys ids;  // nothing seals yet
};

// `opened`: the keys of the vault that the private file has, where that is needed.
Expected<Keys> read_keys(const DataDirectory& directory, const Config& config,
                         const std::vector<std::string>& opened) {
  auto service = crypto::read_service_keys(directory.service_key);
  if (!service) return std::unexpected(service.error());
  auto vault = crypto::read_vault_public_keys(directory.vault_public_key);
  if (!vault) return std::unexpected(vault.error());
  Keys keys{std::move(*service), std::move(*vault), {}};
  if (opens_logins(config)) {
    std::erase_if(keys.vault, [&](const auto& key) {
      return std::ranges::find(opened, crypto::hex_encode(key.id())) == opened.end();
    });
  }
  for (const auto& key : keys.service) keys.ids.service.held.push_back(crypto::hex_encode(key.id));
  for (const auto& key : keys.vault) keys.ids.vault.held.push_back(crypto::hex_encode(key.id()));
  return keys;
}

std::unexpected<Error> key_mismatch(const DataDirectory& directory, const Keys& keys,
                                    const std::vector<std::string>& used,
                                    const std::vector<std::string>& sealed) {
  const auto some = [](const auto& held, const auto& all) {
    return services::lacking_keys(held, all).size() < all.size();
  };
  // With some of them it is a node of this deployment that was away.
  if (some(keys.ids.service.held, used) || some(keys.ids.vault.held, sealed)) {
    std::vector<std::string> names;
    for (const auto& id : services::lacking_keys(keys.ids.vault.held, sealed)) names.push_back("vault:" + id);
    for (const auto& id : services::lacking_keys(keys.ids.service.held, used))
      names.push_back("service:" + id);
    return fail(
        "KEY_MISMATCH",
        fmt::format("The keys were rotated, and those in {} lack {}: copy service.key, vault.key and "
                    "vault.pub from a node that has them, or restore the keys of this database's time.",
                    directory.folder.string(), fmt::join(names, ", ")));
  }
  return fail(
      "KEY_MISMATCH",
      "The keys in " + directory.folder.string() +
          " are not those that the database's secrets are sealed with: restore service.key, vault.key and "
          "vault.pub from the backup, or copy them from another node's data directory.");
}

// Keys of another deployment open nothing of this one, and what they seal the right ones cannot open. Says
// which of the keys seal. Returns whether these are the first ones, so the deployment a new one.
Expected<bool> check_keys(const DataDirectory& directory, storage::Database& database, Keys& keys,
                          const Config& config, bool marked) {
  using storage::KeyUse;
  bool first = false;
  Expected<void> whole;
  const bool has_file = can_be_copied(config, directory);
  database.write([&](storage::Tx& tx) {
    tx.lock_schema();  // the first node decides, and the others wait for it
    whole = check_for_unfinished_copy(tx, database.engine());  // that may have begun since
    if (!whole) return;
    auto used = storage::used_keys(tx, KeyUse::service);
    auto sealed = storage::used_keys(tx, KeyUse::vault);
    if (!services::lacking_keys(keys.ids.service.held, used).empty() ||
        !services::lacking_keys(keys.ids.vault.held, sealed).empty()) {
      whole = key_mismatch(directory, keys, used, sealed);
      return;
    }
    first = used.empty() && sealed.empty();
    if (first && has_file) {
      whole = fail("NOT_COPIED",
                   "The database is empty, and the data directory holds " + directory.database.string() +
                       ": move what is in it with `presetbridge copy`, or move that file away to "
                       "begin a new deployment.");
      return;
    }
    if (first && marked) {
      whole = database_missing(config, directory, "is empty");
      return;
    }
    // A rotation names the used keys among those that exist later on.
    if (used.empty()) used = {keys.ids.service.held.front()};
    if (sealed.empty()) sealed = {keys.ids.vault.held.front()};
    keys.ids.service.sealing = services::sealing_key(keys.ids.service.held, used);
    keys.ids.vault.sealing = services::sealing_key(keys.ids.vault.held, sealed);
    storage::note_used_key(tx, KeyUse::service, keys.ids.service.sealing);
    storage::note_used_key(tx, KeyUse::vault, keys.ids.vault.sealing);
  });
  if (!whole) return std::unexpected(whole.error());
  return first;
}

// A node may connect as a role that cannot change the schema, nor read all of it
// (storage/postgres/node_roles.h).
Expected<void> check_role(const Config& config, storage::Database& database) {
  const auto fit = storage::check_schema(database);
  const bool outdated = !fit && (fit.error().code == "SCHEMA_OLDER" || fit.error().code == "SCHEMA_MISSING");
  if (!fit && !outdated) return fit;
  std::vector<std::string> missing;
  bool may_migrate = false;
  database.read([&](storage::Tx& tx) {
    missing = storage::missing_rights(tx, has_role(config, "worker"));
    may_migrate = storage::may_migrate(tx);
  });
  if (may_migrate) return {};
  if (!missing.empty()) {
    return fail(
        "ROLE_WITHOUT_RIGHTS",
        fmt::format(
            "The database's role that this node connects as may not read {}: run `presetbridge "
            "database grant` as the database's owner, as after each migration, and start. A role of "
            "`--api-role` never gets the right to read columns for workers alone: start a node that connects "
            "as one without the role worker, as with --roles api.",
            fmt::join(missing, ", ")));
  }
  if (!outdated) return {};
  return fail("SCHEMA_OLDER",
              "The database's schema is older than this program, and the role that this node connects as may "
              "not change it: run `presetbridge migrate`, then `presetbridge database grant`, as the "
              "database's owner, and start.");
}

std::optional<int> take_number(storage::Database& database, const std::string& node) {
  std::optional<int> number;
  database.write([&](storage::Tx& tx) {
    number = storage::take_node_number(tx, node, tx.now() + services::kNodeNumberLife);
  });
  return number;
}

}  // namespace

Expected<Foundation> lay_foundation(const Config& config, Log& log, bool replace_lost_database) {
  crypto::initialise();
  auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return std::unexpected(ready.error());
  const bool shared = !config.database_url.empty();
  // First of all the lock that says that nobody else is at work in this folder; SQLite's is its database's.
  std::optional<storage::FileLock> lock;
  if (shared) {
    auto taken = storage::FileLock::take(directory.lock.string());
    if (!taken) return std::unexpected(taken.error());
    lock.emplace(std::move(*taken));
  }
  const bool marked = !replace_lost_database && keys_are_marked(directory);
  if (marked && has_no_file(config, directory)) return database_missing(config, directory, "is not there");
  auto open = open_database(config, directory, &log);
  if (!open) return std::unexpected(open.error());
  auto& database = *open->database;
  try {
    if (auto role = shared ? check_role(config, database) : Expected<void>(); !role)
      return std::unexpected(role.error());
    if (marked && !can_be_copied(config, directory)) {
      const auto fit = storage::check_schema(database);
      if (!fit && fit.error().code == "SCHEMA_MISSING")
        return database_missing(config, directory, "is empty");
    }
    if (auto migrated = storage::migrate(database); !migrated) return std::unexpected(migrated.error());
    Expected<void> whole;
    database.read([&](storage::Tx& tx) { whole = check_for_unfinished_copy(tx, database.engine()); });
    if (!whole) return std::unexpected(whole.error());
    if (auto checked = check_for_lost_keys(directory, database); !checked)
      return std::unexpected(checked.error());
    const auto opened = make_and_check_keys_elsewhere(directory, opens_logins(config));
    if (!opened) return std::unexpected(opened.error());
    auto keys = read_keys(directory, config, *opened);
    if (!keys) return std::unexpected(keys.error());
    const auto first = check_keys(directory, database, *keys, config, marked);
    if (!first) return std::unexpected(first.error());
    if (auto noted = mark_keys(directory, keys->service); !noted)
      log.warn(
          "the mark that the keys are in use could not be written: if the database is lost, no start reports "
          "it",
          {{"file", directory.used_keys.string()}, {"error", noted.error().message}});
    if (std::error_code unknown; shared && std::filesystem::exists(directory.database, unknown))
      log.warn("database_url is set: the SQLite database in the data directory is not used any more",
               {{"file", directory.database.string()}});
    crypto::SystemRandom random;
    const auto node = fmt::format("node-{:016x}", random.u64());
    const auto number = shared ? take_number(database, node) : std::optional(0);
    if (!number) {
      return fail("TOO_MANY_NODES",
                  fmt::format("All {} numbers of nodes were taken in the last minutes: wait some minutes.",
                              storage::kMostNodes));
    }
    const auto sealing = [](const services::KeysOfOneUse& ids) {
      return std::ranges::find(ids.held, ids.sealing) - ids.held.begin();
    };
    const auto vault_key = keys->vault[static_cast<std::size_t>(sealing(keys->ids.vault))];
    std::ranges::rotate(keys->service, keys->service.begin() + sealing(keys->ids.service));
    return Foundation{std::move(directory),
                      std::move(lock),
                      std::move(*open),
                      node,
                      *number,
                      std::move(keys->service),
                      vault_key,
                      *first};
  } catch (const storage::DbError& e) {
    return fail("STORAGE_UNAVAILABLE", fmt::format("The database cannot be used: {}.", e.what()));
  }
}

void give_number_back(storage::Database& database, int number, std::string_view node) noexcept {
  try {
    database.write([&](storage::Tx& tx) { storage::give_node_number_back(tx, number, node); });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // It runs out by itself.
  }
}

Expected<std::string> known_issuer(const Config& config, storage::Database& database) try {
  const auto ours = issuer_name(config);
  auto name = ours;
  database.read([&](storage::Tx& tx) {
    name = storage::issuer_is_known(tx, ours) ? ours : storage::issuer_of_users(tx).value_or(ours);
  });
  return name;
} catch (const storage::DbError& e) {
  return fail("STORAGE_UNAVAILABLE", fmt::format("The database cannot be used: {}.", e.what()));
}

Expected<void> check_issuer(const Config& config, storage::Database& database) {
  const auto known = known_issuer(config, database);
  if (!known) return std::unexpected(known.error());
  if (*known == issuer_name(config)) return {};
  return fail("ISSUER_CHANGED", "The people of this deployment are known by the issuer " + *known +
                                    ", and the settings make it " + issuer_name(config) +
                                    ": set identity.issuer to the former (base_url may be another).");
}

std::string http_url(const std::string& address, std::uint16_t port) {
  const bool v6 = address.contains(':');
  return "http://" + (v6 ? "[" + address + "]" : address) + (port == 0 ? "" : ":" + std::to_string(port));
}

std::string issuer_name(const Config& config) {
  if (!config.identity_issuer.empty()) return config.identity_issuer;
  if (!config.base_url.empty()) return config.base_url;
  const auto listen = parse_listen(config.listen);
  return http_url(listen->address, listen->port);
}

}  // namespace presetbridge::app
