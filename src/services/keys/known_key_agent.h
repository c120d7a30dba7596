// A credential agent that separates two reasons why this node cannot open a stored login. The record is
// damaged: the merchant has to save the login again. Or it is sealed to a key that other nodes hold and this
// node does not: the operator has to copy the key, and the login's state does not change (spec 5.4).
#pragma once

#include "base/log.h"
#include "cloud/agent_client.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// Thread-safe. Follows the contract of cloud::CredentialAgent; login() fails with `unavailable` if the record
// names a key that is in use (storage/stores/key_store.h) and that this node does not hold.
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
  // Whether `key` is in use and missing on this node alone.
  Task<bool> lacks_key_of(Executor& executor, crypto::VaultKeyId key);

  cloud::CredentialAgent& agent_;
  cloud::VaultKeeper& keeper_;
  storage::AsyncDatabase& async_db_;
  Log& log_;
};

}  // namespace presetbridge::services
