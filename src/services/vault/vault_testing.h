// The vault of a services::testing::World: what a merchant does with their login, as the API has it done.
#pragma once

#include "crypto/vault_keys.h"
#include "services/testing.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/cloud_sessions.h"
#include "services/vault/credential_checks.h"
#include "services/vault/login_guard.h"
#include "services/vault/stored_logins.h"
#include "services/vault/vault.h"

namespace presetbridge::services::testing {

class VaultOfWorld {
 public:
  explicit VaultOfWorld(World& world) : world_(world) {}

  // A login of that cloud user.
  CredentialsView save(const std::string& cloud_user) {
    world_.agent.user_id = cloud_user;
    auto saved = world_.await(
        vault.save(world_.scheduler, world_.merchant(), "m@example.com", crypto::SecretString("secret")));
    if (!saved) throw std::runtime_error("the login was not saved");
    world_.settle();
    return *saved;
  }
  void remove() { world_.await(vault.remove(world_.scheduler, world_.merchant())).value(); }
  LoginResult<CredentialsView> validate() {
    auto view = world_.await(vault.validate(world_.scheduler, world_.merchant()));
    world_.settle();
    return view;
  }
  CredentialsView get() { return world_.await(vault.get(world_.scheduler, world_.merchant())).value(); }
  // Checks what is due, as the service does it every so often.
  int check_due() {
    const int tried = world_.await(vault.check_due(world_.scheduler, 10)).value();
    world_.settle();
    return tried;
  }

 private:
  World& world_;
  LoginGuard guard_{world_.async_db, world_.ids, [] { return std::string("key of e-mail hashes"); }};
  crypto::VaultPrivateKey key_ = crypto::VaultPrivateKey::generate(world_.random);
  const crypto::SealingVaultKey public_key_{key_.public_key()};
  CloudLogins logins_{world_.async_db, world_.ids, world_.random, world_.cipher, world_.agent, guard_};
  CloudSessions sessions_{world_.scheduler, *world_.sessions};

 public:
  OwnStoredLogins stored{world_.async_db, world_.cloud, world_.agent,
                         sessions_,       logins_,      world_.database.clock};
  Vault vault{{.async_db = world_.async_db,
               .ids = world_.ids,
               .random = world_.random,
               .log = world_.log,
               .agent = world_.agent,
               .stored = stored,
               .guard = guard_,
               .key = public_key_,
               .forget_sessions = [this](AccountId id) { world_.sessions->invalidate(id); },
               .retire_sessions = [this](AccountId id) { world_.sessions->retire(id); },
               .changed = [this] { world_.worker->wake(); }}};
};

}  // namespace presetbridge::services::testing
