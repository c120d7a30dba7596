// The vault's key files. The private file holds one line a key, newest first, and is read by the credential
// agent only; the public file holds the newest public key and is all that the HTTP-facing process gets
// (spec 5.2, 5.3).
//
// Errors: KEY_FILE_EXISTS, KEY_FILE_MISSING, KEY_FILE_EXPOSED (others may read or change it),
// KEY_FILE_INVALID, KEY_FILE_UNAVAILABLE (any other refusal by the system). Messages name the path, never the
// content.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "crypto/sealed_record.h"

namespace presetbridge::crypto {

// Makes a key pair and both files, mode 0600 and 0644. Refuses to touch a file that exists.
Expected<VaultPublicKey> create_vault_key_files(const std::filesystem::path& private_file,
                                                const std::filesystem::path& public_file, Random& random);

// Adds a new key in front of the private file and makes it the public one. The old keys stay, and open old
// records until all are resealed. Each file is replaced as a whole or not at all, the private one first.
Expected<VaultPublicKey> rotate_vault_key_files(const std::filesystem::path& private_file,
                                                const std::filesystem::path& public_file, Random& random);

// Keeps only the newest private key: for when nothing is sealed to the others any more.
Expected<void> drop_old_vault_keys(const std::filesystem::path& private_file);

Expected<VaultKeyring> read_vault_private_keys(const std::filesystem::path& private_file);
Expected<VaultPublicKey> read_vault_public_key(const std::filesystem::path& public_file);

}  // namespace presetbridge::crypto
