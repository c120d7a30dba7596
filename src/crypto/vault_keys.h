// The vault's key files. The private file holds one line a key, newest first, and is read by the credential
// agent only; the public file holds their public halves in the same order and is all that the HTTP-facing
// process gets (spec 5.2, 5.3). Which of them seals is for the database to say (services/keys/key_watch.h): a
// new key stands in front before anything is sealed to it.
//
// Errors: KEY_FILE_EXISTS, KEY_FILE_MISSING, KEY_FILE_EXPOSED (others may read or change it),
// KEY_FILE_INVALID, KEY_FILE_UNAVAILABLE (any other refusal by the system). Messages name the path, never the
// content.
#pragma once

#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "crypto/sealed_record.h"

namespace presetbridge::crypto {

// Makes a key pair and both files, mode 0600 and 0644. Refuses to touch a file that exists.
Expected<VaultPublicKey> create_vault_key_files(const std::filesystem::path& private_file,
                                                const std::filesystem::path& public_file, Random& random);

// Adds a new key in front of both files (spec 5.4). The old keys stay, and open old records. Each file is
// replaced as a whole or not at all, the private one first: publish_vault_keys() mends what was cut short.
Expected<VaultPublicKey> add_vault_key(const std::filesystem::path& private_file,
                                       const std::filesystem::path& public_file, Random& random);
// Has the public file hold the public halves of the private one's keys. Does nothing where it does.
Expected<void> publish_vault_keys(const std::filesystem::path& private_file,
                                  const std::filesystem::path& public_file);
// Removes the keys that stand behind `kept` from both files, the public one first: for when nothing is sealed
// to them any more. How many went. KEY_FILE_INVALID: the private file does not hold `kept`.
Expected<int> drop_vault_keys_behind(const std::filesystem::path& private_file,
                                     const std::filesystem::path& public_file, const VaultKeyId& kept);

Expected<VaultKeyring> read_vault_private_keys(const std::filesystem::path& private_file);
// Newest first, never empty, each once.
Expected<std::vector<VaultPublicKey>> read_vault_public_keys(const std::filesystem::path& public_file);

// The public key that logins are sealed to now. Thread-safe.
class SealingVaultKey {
 public:
  explicit SealingVaultKey(VaultPublicKey key) : key_(std::move(key)) {}
  VaultPublicKey now() const {
    const std::scoped_lock lock(mutex_);
    return key_;
  }
  void use(const VaultPublicKey& key) {
    const std::scoped_lock lock(mutex_);
    key_ = key;
  }

 private:
  mutable std::mutex mutex_;  // guards key_
  VaultPublicKey key_;
};

}  // namespace presetbridge::crypto
