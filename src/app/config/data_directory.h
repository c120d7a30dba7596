// The data directory: where everything of an embedded deployment lives, readable by its owner only (spec
// 5, 12.1).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/config/config.h"
#include "base/clock.h"
#include "base/error.h"

namespace presetbridge::app {

struct DataDirectory {
  std::filesystem::path folder;
  std::filesystem::path database;
  std::filesystem::path lock;               // held by who is at work here, where the database is elsewhere
  std::filesystem::path vault_private_key;  // opened by the credential agent only
  std::filesystem::path vault_public_key;
  std::filesystem::path service_key;
  std::filesystem::path used_keys;     // used_keys_mark.h
  std::filesystem::path payments_key;  // payment_keys.h
  std::filesystem::path payments_webhook;
  std::filesystem::path mail_password;  // mail_options.h
  std::filesystem::path
      admin_channel;  // how a command-line verb reaches the running service (admin_channel.h)
};
DataDirectory data_directory(const Config& config);

// Makes the folder, mode 0700, if it is not there. DATA_DIR_UNUSABLE: it cannot be made, is no folder,
// others may write to it, or we may not.
Expected<void> prepare_data_directory(const DataDirectory& directory);

// `vault init`: makes the vault's key pair and the service key, each if it is missing; how many files were
// made (0 to 3). The errors of crypto/vault_keys.h; KEY_FILE_MISSING too when only one file of the vault's
// pair is there.
Expected<int> create_missing_keys(const DataDirectory& directory, Random& random);

// Makes the key files that are missing, and reads the vault's: what the credential agent could not use must
// stop the start, not the first login. In a child process that ends afterwards, so that the private key was
// never in this one's memory (spec 5.2). Only before there are threads. The ids of the vault's private keys,
// in hexadecimal; none on a node that opens no stored login (`opens_logins` false), which may do without the
// private file where the two others are there. The errors of create_missing_keys and of crypto/vault_keys.h;
// KEY_FILE_FOREIGN: the private file does not hold all that the public one names.
Expected<std::vector<std::string>> make_and_check_keys_elsewhere(const DataDirectory& directory,
                                                                 bool opens_logins);

}  // namespace presetbridge::app
