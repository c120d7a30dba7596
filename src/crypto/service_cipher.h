// Encryption at rest of the secrets that the HTTP-facing process needs back: signing secrets, issuer keys
// (spec 5.4). AES-256-GCM under a service key, bound to the place where the value is stored.
//
// Errors of decrypting: RECORD_CORRUPT (a bit was changed, or the value was stored elsewhere),
// UNKNOWN_SERVICE_KEY.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "crypto/bytes.h"
#include "crypto/digest.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {

using ServiceKeyId = std::array<std::byte, 8>;

struct ServiceKey {
  ServiceKeyId id;
  SecretBytes key;  // 32 bytes
};

// Where a value is stored, e.g. {"integrations.secret", id.value}.
struct ValuePlace {
  std::string_view column;
  std::int64_t row = 0;
};

// Thread-safe.
class ServiceCipher {
 public:
  // The first key encrypts, all decrypt. Throws std::invalid_argument for no key, a key of another size, or
  // two keys with one id. `random` must outlive this.
  ServiceCipher(std::vector<ServiceKey> keys, Random& random);
  // These keys from now on, of which the named one encrypts. Throws as the constructor does, and where none
  // has that id.
  void hold(std::vector<ServiceKey> keys, const ServiceKeyId& sealing);

  // The serialised value: plaintext + 45 bytes.
  Bytes encrypt(const ValuePlace& place, std::string_view plaintext) const;
  Expected<SecretString> decrypt(const ValuePlace& place, ByteView value) const;
  // HMAC-SHA256 of the text under the key that encrypts now: a key for something else.
  Sha256 derived(std::string_view purpose) const;
  // The one that encrypts now.
  ServiceKeyId sealing() const;

 private:
  struct Ring;
  std::shared_ptr<const Ring> ring() const;

  mutable std::mutex mutex_;  // guards ring_
  std::shared_ptr<const Ring> ring_;
  Random& random_;
};

// The key that an intact value is under; RECORD_CORRUPT otherwise. Needs no key.
Expected<ServiceKeyId> service_value_key_id(ByteView value);
// The size of an intact value's plaintext; RECORD_CORRUPT otherwise. Needs no key.
Expected<std::size_t> service_value_text_size(ByteView value);

ServiceKey generate_service_key(Random& random);

// Key files as in vault_keys.h: one line a key, newest first, mode 0600, the same errors.
Expected<void> create_service_key_file(const std::filesystem::path& file, Random& random);
// A new key in front; which of them encrypts is for the database to say, as in vault_keys.h.
Expected<void> add_service_key(const std::filesystem::path& file, Random& random);
// Removes the keys that stand behind `kept`; how many went. KEY_FILE_INVALID: `kept` is not there.
Expected<int> drop_service_keys_behind(const std::filesystem::path& file, const ServiceKeyId& kept);
Expected<std::vector<ServiceKey>> read_service_keys(const std::filesystem::path& file);

}  // namespace presetbridge::crypto
