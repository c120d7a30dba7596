// POST /api/auth/login (spec 4.3): a login that a key's holder checks at the cloud platform, and the short
// session it opens for reading that user's presets. Deliveries never use it.
#pragma once

#include <string>

#include "base/clock.h"
#include "cloud/agent_client.h"
#include "crypto/secret.h"
#include "crypto/service_cipher.h"
#include "identity/principal.h"
#include "services/vault/login_guard.h"
#include "storage/commit/async_database.h"
#include "storage/stores/cloud_login_store.h"

namespace presetbridge::services {

struct OpenedSession {
  std::string token;  // shown once; stored hashed
  Timestamp expires_at;
  std::string user_id;
  std::string username;
};

// Thread-safe.
class CloudLogins {
 public:
  static constexpr Millis max_age = std::chrono::hours{1};

  // All outlive this.
  CloudLogins(storage::AsyncDatabase& async_db, IdSource& ids, Random& random,
              const crypto::ServiceCipher& cipher, cloud::CredentialAgent& agent, LoginGuard& guard)
      : async_db_(async_db), ids_(ids), random_(random), cipher_(cipher), agent_(agent), guard_(guard) {}

  // By a key. INVALID_CREDENTIALS, CLOUD_UNAVAILABLE, OVERLOADED, RATE_LIMIT_EXCEEDED; FORBIDDEN without a
  // key.
  Task<LoginResult<OpenedSession>> login(Executor& executor, identity::Principal by, std::string email,
                                         crypto::SecretString password);
  // The session behind a token. UNAUTHORIZED unless this key opened it and it lasts still. `token` is
  // hostile.
  Task<Expected<storage::CloudSessionRow>> find(Executor& executor, identity::Principal by,
                                                std::string token);
  // The session itself, by its token's hash: one that find() gave. UNAUTHORIZED: it is over.
  Task<Expected<cloud::Session>> open(Executor& executor, crypto::Bytes hash);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Random& random_;
  const crypto::ServiceCipher& cipher_;
  cloud::CredentialAgent& agent_;
  LoginGuard& guard_;
};

}  // namespace presetbridge::services
