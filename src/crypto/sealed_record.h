// The vault's record (spec 5.2): a cloud login that any holder of the public key can write and only the
// holder of the private key can read. The login is encrypted with AES-256-GCM, which also authenticates
// account id, record version and key id. Each record has a data key of its own, which is sealed to the
// public key (libsodium's sealed box, X25519).
//
// Errors of opening: RECORD_CORRUPT (a bit was changed, or the record belongs to another account or
// version), UNKNOWN_VAULT_KEY (the record is intact, and sealed to a key that is not held).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "crypto/bytes.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {

// Where a record belongs. A record opens only at the place that it was sealed for.
struct RecordPlace {
  AccountId account;
  std::int64_t version = 0;
};

// Names a vault key: the start of the SHA-256 of its public key.
using VaultKeyId = std::array<std::byte, 8>;

// Seals records, and cannot open them.
class VaultPublicKey {
 public:
  using Raw = std::array<std::byte, 32>;
  // Throws std::invalid_argument for the few weak points: anybody could open a record sealed to one.
  explicit VaultPublicKey(const Raw& raw);

  // The serialised record: plaintext + 125 bytes.
  Bytes seal(Random& random, const RecordPlace& place, std::string_view plaintext) const;

  const Raw& raw() const { return raw_; }
  const VaultKeyId& id() const { return id_; }

 private:
  Raw raw_;
  VaultKeyId id_;
};

// Opens the records that were sealed to its public key.
class VaultPrivateKey {
 public:
  static VaultPrivateKey generate(Random& random);
  explicit VaultPrivateKey(SecretBytes raw);  // 32 bytes, else throws std::invalid_argument

  Expected<SecretString> open(const RecordPlace& place, ByteView record) const;

  const VaultPublicKey& public_key() const { return public_key_; }
  ByteView reveal() const { return raw_.reveal(); }

 private:
  SecretBytes raw_;
  VaultPublicKey public_key_;
};

// The keys that an agent holds, newest first; never empty.
class VaultKeyring {
 public:
  explicit VaultKeyring(std::vector<VaultPrivateKey> keys);

  const VaultPrivateKey& newest() const { return keys_.front(); }
  // Picks the key that the record names.
  Expected<SecretString> open(const RecordPlace& place, ByteView record) const;
  // Seals the record's login to `to`, for that place: key rotation (spec 5.4).
  Expected<Bytes> reseal(Random& random, const RecordPlace& place, ByteView record,
                         const VaultPublicKey& to) const;

  const std::vector<VaultPrivateKey>& keys() const { return keys_; }

 private:
  std::vector<VaultPrivateKey> keys_;
};

// The key that an intact record is sealed to; RECORD_CORRUPT otherwise. Needs no key, so anybody can find
// out whether to reseal the record, and whether it was damaged by accident.
Expected<VaultKeyId> sealed_record_key_id(ByteView record);

}  // namespace presetbridge::crypto
