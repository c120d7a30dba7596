// The vault of cloud logins (spec 5.1): one an account, sealed before it is stored, and never to be read
// again here. A save, a check or a delete writes its effect on the account's deliveries in its own
// transaction (spec 3.6).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "cloud/agent_client.h"
#include "crypto/secret.h"
#include "crypto/vault_keys.h"
#include "identity/principal.h"
#include "services/vault/login_guard.h"
#include "services/vault/stored_logins.h"
#include "storage/commit/async_database.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// The shown fields of a login: never the password, never the whole e-mail address.
struct CredentialsView {
  storage::CredentialsStatus status = storage::CredentialsStatus::missing;
  std::int64_t version = 0;
  std::string masked_email;
  std::string cloud_user_id;  // while the login is valid
  std::string cloud_username;
  std::optional<Timestamp> saved_at;
  std::optional<Timestamp> checked_at;
  bool unreadable = false;  // `invalid`: the stored login cannot be opened, and has to be saved again
  // By what this is the answer to: the login is of another cloud user than before (spec 3.11).
  std::int64_t mappings_made_stale = 0;
};

// The account's buyers at the cloud user that it delivers from.
struct FriendsView {
  storage::FriendshipCounts counts;
  std::optional<Timestamp> last_sweep_at;
};

// "m…@example.com": the first character and the domain; "…" for what has no '@' within.
std::string mask_email(std::string_view email);

struct VaultPorts {
  storage::AsyncDatabase& async_db;
  IdSource& ids;
  Random& random;
  Log& log;
  cloud::CredentialAgent& agent;
  StoredLogins& stored;
  LoginGuard& guard;
  const crypto::SealingVaultKey& key;
  // Of cached cloud sessions. Any thread.
  std::function<void(AccountId)> forget_sessions;  // the login was deleted
  std::function<void(AccountId)> retire_sessions;  // another login was saved, or its standing changed
  std::function<void()> changed;  // there may be new work for the delivery worker. Any thread.
};

// Thread-safe.
class Vault {
 public:
  explicit Vault(VaultPorts ports) : ports_(std::move(ports)) {}

  Task<Expected<CredentialsView>> get(Executor& executor, identity::Principal by);
  // Counts the buyers of the account's newest `friends_of_deliveries` deliveries. Nothing: no login was ever
  // valid.
  static constexpr std::int64_t friends_of_deliveries = 10'000;
  Task<Expected<std::optional<FriendsView>>> friends(Executor& executor, identity::Principal by);
  // Checks the login at the platform, then stores it. INVALID_CREDENTIALS: the platform refused it, and
  // nothing was stored. VALIDATION_FAILED: longer than cloud/cloud_login.h takes. While the platform is away
  // the login is stored as `unchecked`, and checked later.
  Task<LoginResult<CredentialsView>> save(Executor& executor, identity::Principal by, std::string email,
                                          crypto::SecretString password);
  // Also when there is none.
  Task<Expected<void>> remove(Executor& executor, identity::Principal by);
  // Removes the login in the caller's transaction; the caller calls removed() after its commit.
  void remove_in(storage::Tx& tx, const identity::Principal& by);
  void removed(AccountId account);
  // Logs in with what is stored; the result is written if no other login was saved meanwhile. A refusal is no
  // error: the view says `invalid`. NOT_FOUND: there is none. CONFLICT: it cannot be opened, which is noted.
  // CLOUD_UNAVAILABLE, OVERLOADED, WORKER_UNAVAILABLE. Counts as attempts at one address of its own.
  Task<LoginResult<CredentialsView>> validate(Executor& executor, identity::Principal by);

  // Checks logins that were saved while the platform was away, or could not be opened, and are due; returns
  // how many were tried.
  Task<Expected<int>> check_due(Executor& executor, int limit);

 private:
  Task<Expected<CredentialsView>> checked(Executor& executor, AccountId account, std::int64_t version,
                                          const CheckedLogin& result);
  // Leaves it to the caller to write `record`. How many mappings became stale.
  std::int64_t accept(storage::Tx& tx, storage::CredentialsStanding& standing,
                      storage::CredentialsRecord& record, const cloud::CloudUser& user);

  const VaultPorts ports_;
};

}  // namespace presetbridge::services
