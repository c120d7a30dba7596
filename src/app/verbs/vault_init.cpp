#include "app/verbs/vault_init.h"

#include <cstdio>
#include <filesystem>

#include "app/config/data_directory.h"
#include "app/foundation/open_database.h"
#include "app/verbs/outcome.h"
#include "crypto/random.h"
#include "storage/schema/migrations.h"
#include "storage/stores/key_store.h"

namespace presetbridge::app {
namespace {

// New keys beside a database that has secrets hide that the old ones are lost (spec 5.2).
Expected<void> check_for_lost_keys(const Config& config, const DataDirectory& directory, bool replace_lost) {
  const auto is_there = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  const bool lost_service = !is_there(directory.service_key);
  const bool lost_vault = !is_there(directory.vault_private_key) && !is_there(directory.vault_public_key);
  if ((!lost_service && !lost_vault) || (config.database_url.empty() && !is_there(directory.database)))
    return {};
  const auto open = open_database(config, directory);
  if (!open) return std::unexpected(open.error());
  if (auto applied = storage::migrate(*open->database); !applied) return std::unexpected(applied.error());
  bool sealed = false;
  bool encrypted = false;
  open->database->write([&](storage::Tx& tx) {
    sealed = !storage::used_keys(tx, storage::KeyUse::vault).empty();
    encrypted = !storage::used_keys(tx, storage::KeyUse::service).empty();
    if (lost_vault && replace_lost && !(encrypted && lost_service))
      storage::forget_used_keys(tx, storage::KeyUse::vault);
  });
  constexpr const char* kRestore =
      ": restore it from the backup of the keys, or copy service.key, vault.key and vault.pub from another "
      "node.";
  if (encrypted && lost_service) {
    return fail("KEY_FILE_MISSING", "The service key " + directory.service_key.string() +
                                        " is missing, and the database holds secrets that only it opens" +
                                        kRestore);
  }
  if (!sealed || !lost_vault || replace_lost) return {};
  return fail(
      "KEY_FILE_MISSING",
      "The vault's keys in " + directory.folder.string() +
          " are missing, and the database holds logins that only they open" + kRestore +
          " If nobody has them any more, --replace-lost makes new ones; every login must then be saved "
          "again.");
}

}  // namespace

int run_vault_init(const Config& config, bool replace_lost) {
  const auto directory = data_directory(config);
  if (auto ready = prepare_data_directory(directory); !ready) return failed(ready.error());
  try {
    if (auto fit = check_for_lost_keys(config, directory, replace_lost); !fit) return failed(fit.error());
  } catch (const storage::DbError& e) {
    return failed({"STORAGE_UNAVAILABLE", "The database cannot be used: " + std::string(e.what()) + ".", {}});
  }
  crypto::SystemRandom random;
  const auto made = create_missing_keys(directory, random);
  if (!made) return failed(made.error());
  std::printf("%s in %s\n", *made == 0 ? "all key files are there already" : "key files were made",
              directory.folder.c_str());
  return 0;
}

}  // namespace presetbridge::app
