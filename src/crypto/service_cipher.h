// Encryption at rest of the secrets that the HTTP-facing process needs back: signing secrets, issuer keys
// (spec 5.4). AES-256-GCM under a service key, bound to the place where the value is stored.
//
// Errors of decrypting: RECORD_CORRUPT (a bit was changed, or the value was stored elsewhere),
// UNKNOWN_SERVICE_KEY.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "crypto/bytes.h"
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

  // The serialised value: plaintext + 45 bytes.
  Bytes encrypt(const ValuePlace& place, std::string_view plaintext) const;
  Expected<SecretString> decrypt(const ValuePlace& place, ByteView value) const;
  // Whether an intact value is under another key than the one that encrypts now.
  Expected<bool> needs_rotation(ByteView value) const;

 private:
  const ServiceKey* find(const ServiceKeyId& id) const;

  std::vector<ServiceKey> keys_;
  Random& random_;
};

ServiceKey generate_service_key(Random& random);

// Key files as in vault_keys.h: one line a key, newest first, mode 0600, the same errors.
Expected<void> create_service_key_file(const std::filesystem::path& file, Random& random);
Expected<void> rotate_service_key_file(const std::filesystem::path& file, Random& random);
Expected<std::vector<ServiceKey>> read_service_keys(const std::filesystem::path& file);

}  // namespace presetbridge::crypto
