// The part of a person's request that has to open a stored login or session. Nodes
// that may open logins do it here; one that only serves the API asks another (services/vault/worker_calls.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "cloud/agent_client.h"
#include "cloud/cloud.h"
#include "crypto/bytes.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/cloud_sessions.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// The error that a person reads where the platform answered no call or login: CLOUD_UNAVAILABLE; OVERLOADED
// where the service itself had no place for the login.
Error unanswered(const cloud::CloudError& error);

using PresetFiles = std::shared_ptr<const std::vector<cloud::CloudFile>>;
// Whose login it is, or why that is not known: login_refused, credentials_unreadable, session_refused (it is
// another login now, or none), unavailable, busy.
using CheckedLogin = cloud::CloudResult<cloud::CloudUser>;

// Thread-safe. Any of them may give an error of the storage, or WORKER_UNAVAILABLE: nobody who may open it
// has answered in time.
class StoredLogins {
 public:
  static constexpr std::size_t max_files = 20'000;  // of one user; the rest is not listed
  static constexpr Millis max_reading{60'000};      // of one list, however many pages it has

  virtual ~StoredLogins() = default;
  // All files of the user whose login the vault has, by name. CREDENTIALS_MISSING: it has none, or not this
  // version, or it is refused or cannot be opened, which is noted as `invalid` with what follows for
  // deliveries (spec 3.5, 5.4). Else as unanswered().
  virtual Task<Expected<PresetFiles>> files_of_login(Executor& executor, AccountId account,
                                                     std::int64_t version) = 0;
  // The files of a session that CloudLogins opened, by its token's hash. UNAUTHORIZED: the platform, or its
  // time, has ended it. CLOUD_UNAVAILABLE.
  virtual Task<Expected<PresetFiles>> files_of_session(Executor& executor, crypto::Bytes token_hash) = 0;
  // Logs in anew with what the vault has. Notes nothing.
  virtual Task<Expected<CheckedLogin>> check_login(Executor& executor, AccountId account,
                                                   std::int64_t version) = 0;
};

// By this node itself.
class OwnStoredLogins final : public StoredLogins {
 public:
  // All outlive this.
  OwnStoredLogins(storage::AsyncDatabase& async_db, cloud::Cloud& cloud, cloud::CredentialAgent& agent,
                  CloudSessions& sessions, CloudLogins& logins, const Clock& clock)
      : async_db_(async_db),
        cloud_(cloud),
        agent_(agent),
        sessions_(sessions),
        logins_(logins),
        clock_(clock) {}

  Task<Expected<PresetFiles>> files_of_login(Executor& executor, AccountId account,
                                             std::int64_t version) override;
  Task<Expected<PresetFiles>> files_of_session(Executor& executor, crypto::Bytes token_hash) override;
  Task<Expected<CheckedLogin>> check_login(Executor& executor, AccountId account,
                                           std::int64_t version) override;

 private:
  Task<Expected<cloud::Session>> vault_session(Executor& executor, AccountId account, std::int64_t version);
  Task<cloud::CloudResult<PresetFiles>> read_all(Executor& executor, cloud::Session session);

  storage::AsyncDatabase& async_db_;
  cloud::Cloud& cloud_;
  cloud::CredentialAgent& agent_;
  CloudSessions& sessions_;
  CloudLogins& logins_;
  const Clock& clock_;
};

}  // namespace presetbridge::services
