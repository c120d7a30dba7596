// Caches decrypted signing secrets of subscriptions: guarded memory (crypto/secret.h) would cost a dozen system
// calls for each delivery attempt. Evicted secrets are wiped.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "crypto/service_cipher.h"
#include "storage/stores/dispatch_store.h"

namespace presetbridge::services {

struct SigningSecrets {
  std::string current;
  std::string previous;  // empty: none
  std::string older;     // the one before the previous one; empty: none

  SigningSecrets() = default;
  SigningSecrets(const SigningSecrets&) = delete;
  SigningSecrets& operator=(const SigningSecrets&) = delete;
  ~SigningSecrets();
};

// Keeps the secrets used last. Used on one thread.
class SecretCache {
 public:
  SecretCache(const crypto::ServiceCipher& cipher, std::size_t max_entries)
      : cipher_(cipher), max_entries_(max_entries) {}

  // Returns the secrets of `target`'s subscription in its version; valid until the next call. RECORD_CORRUPT or
  // UNKNOWN_SERVICE_KEY if they cannot be decrypted.
  Expected<const SigningSecrets*> find(const storage::DispatchTarget& target);

 private:
  struct Entry {
    SubscriptionId id;
    std::int64_t version = 0;
    SigningSecrets secrets;
  };
  const crypto::ServiceCipher& cipher_;
  const std::size_t max_entries_;
  std::list<Entry> entries_;  // used last first
  std::unordered_map<SubscriptionId, std::list<Entry>::iterator> by_id_;
};

}  // namespace presetbridge::services
