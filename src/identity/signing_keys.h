// The keys that the built-in issuer's ID tokens are signed with (spec 7.2): in the database under the service
// key, the same for all nodes. A new key (spec 5.4) is published first, and signs once all nodes know it; the
// one before it verifies until it is deleted.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/jws.h"
#include "crypto/service_cipher.h"
#include "identity/token_verifier.h"
#include "storage/commit/async_database.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::identity {

// How long a new key is published before it signs: longer than nodes take to read it (KeyWatch).
inline constexpr Millis kSigningKeyKnown = std::chrono::seconds{15};

// Thread-safe; tasks resume on `executor`.
class SigningKeys {
 public:
  // All outlive this.
  SigningKeys(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher, const Clock& clock)
      : async_db_(async_db), cipher_(cipher), clock_(clock) {}

  // Reads the keys, and makes the first one. RECORD_CORRUPT, UNKNOWN_SERVICE_KEY: a stored key cannot be
  // decrypted.
  Task<Expected<Keys>> load(Executor& executor);
  Task<Expected<Keys>> keys(Executor& executor);  // loads them if they are not known
  // Another node may have made a key: reads the table again, at most once in 10 s.
  Task<Expected<Keys>> fresh_keys(Executor& executor);
  // Reads the table again, and writes nothing; how many keys there are. The errors of load().
  Task<Expected<int>> reload(Executor& executor);
  // Makes a new key beside the only one; false, and nothing is done, where there are two.
  Task<Expected<bool>> add(Executor& executor);

  // A compact JWS over `claims`, by the newest key that all nodes know. ISSUER_UNAVAILABLE before the first
  // load().
  Expected<std::string> sign(std::string_view claims) const;
  std::string jwks() const;  // without keys before the first load()

 private:
  struct Ring;  // the keys as read: one signs, all verify
  struct Stored {
    std::vector<storage::IssuerKeyRow> rows;  // newest first
    Timestamp now;
  };

  storage::IssuerKeyRow make_key(Timestamp now) const;
  Expected<Keys> take(const Stored& stored);
  std::shared_ptr<const Ring> ring() const;

  storage::AsyncDatabase& async_db_;
  const crypto::ServiceCipher& cipher_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // guards ring_ and loaded_at_
  std::shared_ptr<const Ring> ring_;
  std::optional<Timestamp> loaded_at_;
};

}  // namespace presetbridge::identity
