#include "app/foundation.h"

#include <filesystem>
#include <utility>

#include "crypto/random.h"
#include "crypto/vault_keys.h"
#include "storage/credential_store.h"
#include "storage/identity_store.h"
#include "storage/migrations.h"
#include "storage/sqlite/sqlite_database.h"

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
                                        "restore it from the backup.");
  }
  if (logins && !exists(directory.vault_private_key) && !exists(directory.vault_public_key)) {
    return fail(
        "KEY_FILE_MISSING",
        "The vault's keys " + directory.vault_private_key.string() + " and " +
            directory.vault_public_key.string() +
            " are missing, and the database holds logins that only they open: restore them from the "
            "backup, or make new ones with `presetbridge vault init` and have every login saved again.");
  }
  return {};
}

}  // namespace

Expected<Foundation> lay_foundation(const Config& config) {
  crypto::initialise();
  auto clock = std::make_unique<net::SystemClock>();
  auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return std::unexpected(ready.error());
  // First the database: its lock says that nobody else is at work in this folder.
  auto database = storage::open_sqlite({.path = directory.database.string(),
                                        .readers = static_cast<int>(config.storage_readers),
                                        .checkpoint_pages = static_cast<int>(config.storage_checkpoint_pages),
                                        .cache_mib = static_cast<int>(config.storage_cache_mib)},
                                       *clock);
  if (!database) return std::unexpected(database.error());
  if (auto migrated = storage::migrate(**database); !migrated) return std::unexpected(migrated.error());
  if (auto kept = check_for_lost_keys(directory, **database); !kept) return std::unexpected(kept.error());
  if (auto made = create_missing_keys_elsewhere(directory); !made) return std::unexpected(made.error());
  auto service_keys = crypto::read_service_keys(directory.service_key);
  if (!service_keys) return std::unexpected(service_keys.error());
  auto vault_key = crypto::read_vault_public_key(directory.vault_public_key);
  if (!vault_key) return std::unexpected(vault_key.error());
  return Foundation{std::move(clock), std::move(directory), std::move(*database), std::move(*service_keys),
                    *vault_key};
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
