// The credential agent, for logins that were sealed to a key which others hold and this node does not: a
// record that cannot be opened here is damaged, or only not to be opened by this node. The first is the
// merchant's to mend, the second the operator's, and nothing is noted of the login then (spec 5.4).
#pragma once

#include "base/log.h"
#include "cloud/agent_client.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Thread-safe. As cloud::CredentialAgent, but `unavailable` where the record is intact and names a key that
// is used (storage/stores/key_store.h) and not held here.
class KnownKeyAgent final : public cloud::CredentialAgent {
 public:
  // All outlive this.
  KnownKeyAgent(cloud::CredentialAgent& agent, cloud::VaultKeeper& keeper, storage::AsyncDatabase& async_db,
                Log& log)
      : agent_(agent), keeper_(keeper), async_db_(async_db), log_(log) {}

  Millis login_deadline() const override { return agent_.login_deadline(); }
  Task<cloud::CloudResult<cloud::Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                                 crypto::Bytes sealed) override;
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor& executor, std::string email,
                                                      crypto::SecretString password) override {
    return agent_.login_with(executor, std::move(email), std::move(password));
  }
  void hurry(AccountId account) override { agent_.hurry(account); }

 private:
  // Whether it is only this node that cannot open it.
  Task<bool> lacks_key_of(Executor& executor, crypto::VaultKeyId key);

  cloud::CredentialAgent& agent_;
  cloud::VaultKeeper& keeper_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
};

}  // namespace presetbridge::services
