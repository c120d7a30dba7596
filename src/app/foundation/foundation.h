// The foundation of the service, and of a command-line verb that works without it: folder, database, keys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "app/foundation/open_database.h"
#include "base/error.h"
#include "base/log.h"
#include "crypto/sealed_record.h"
#include "crypto/service_cipher.h"
#include "storage/file_lock.h"

namespace presetbridge::app {

struct Foundation {
  DataDirectory directory;
  std::optional<storage::FileLock> lock;  // of the folder; with SQLite the database has one
  OpenDatabase open;
  std::string node;                              // names this process among the nodes of its database
  int node_number = 0;                           // of its ids (storage/stores/node_store.h); 0 with SQLite
  std::vector<crypto::ServiceKey> service_keys;  // that of them which seals is the first
  crypto::VaultPublicKey vault_key;              // that seals
  bool first = false;                            // nobody has served this database before
};

// Opens and migrates the database, and makes missing keys. In a process without threads. STORAGE_LOCKED:
// another process is at work in this data directory. KEY_FILE_MISSING: the database holds what only a missing
// key opens; new ones are not made then. KEY_MISMATCH: the keys are not those of the database's other nodes.
// DATABASE_MISSING: the keys were used with a database, and there is none, or an empty one; with
// `replace_lost_database` that is served. COPY_UNFINISHED: the database is not whole yet
// (storage/copy/copy.h). NOT_COPIED: it is empty, and the data directory holds an SQLite database.
Expected<Foundation> lay_foundation(const Config& config, Log& log, bool replace_lost_database = false);

// This process makes no ids with its number any more. If that fails, the number expires.
void give_number_back(storage::Database& database, int number, std::string_view node) noexcept;

// The name that people's identities are known by at the built-in issuer: it must outlive a restart on another
// free port.
std::string issuer_name(const Config& config);
// The name that the people of this database signed up with; that of the settings, where there are none.
Expected<std::string> known_issuer(const Config& config, storage::Database& database);
// ISSUER_CHANGED: with the name of the settings nobody could sign in any more.
Expected<void> check_issuer(const Config& config, storage::Database& database);

// "http://127.0.0.1:8080"; without the port if it is 0.
std::string http_url(const std::string& address, std::uint16_t port);

}  // namespace presetbridge::app
