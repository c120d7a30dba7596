// The base of the tests of identity, services and api: a real SQLite database, a clock that they set, and one
// thread on which every task runs to its end inside await().
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/task.h"
#include "base/testing.h"
#include "crypto/opaque_token.h"
#include "crypto/password_hash.h"
#include "crypto/service_cipher.h"
#include "identity/built_in_issuer.h"
#include "identity/password_workers.h"
#include "storage/commit/async_database.h"
#include "storage/stores/people_store.h"
#include "storage/testing.h"

namespace presetbridge::identity::testing {

using presetbridge::testing::RecordingLog;

class World {
 public:
  explicit World(storage::testing::WrapDatabase wrap = {}) : db(std::move(wrap)) {}

  // Runs `task` to its end; virtual time stands still.
  template <class T>
  T await(Task<T> task) {
    std::optional<Outcome<T>> ended;
    spawn(std::move(task), [&](Outcome<T> outcome) { ended = std::move(outcome); });
    scheduler.run();
    if (!ended) throw std::runtime_error("the task waits for something that does not come");
    if (ended->exception) std::rethrow_exception(ended->exception);
    return std::move(*ended->value);
  }

  std::unique_ptr<BuiltInIssuer> issuer(BuiltInIssuerOptions options = {.iss = "https://bridge.example"}) {
    return std::make_unique<BuiltInIssuer>(
        BuiltInIssuer::Deps{async_db, passwords, hasher, cipher, ids, random, clock(), log},
        std::move(options));
  }

  // The token of an invitation to the account, which is good for a day.
  std::string invite(AccountId account) {
    const auto token = crypto::generate_opaque_token(random, kInvitationPrefix);
    db->write([&](storage::Tx& tx) {
      storage::insert_invitation(tx,
                                 {.id = ids.make<InvitationId>(),
                                  .account = account,
                                  .role = "member",
                                  .note = "",
                                  .created_by = "a test",
                                  .created_at = tx.now(),
                                  .expires_at = tx.now() + std::chrono::days{1}},
                                 token.hash);
    });
    return token.text;
  }

  presetbridge::testing::ManualClock& clock() { return db.clock; }

  storage::testing::SuiteDatabase db;
  RecordingLog log;
  presetbridge::testing::VirtualScheduler scheduler{db.clock};
  presetbridge::testing::SeededRandom random;
  IdSource ids{db.clock, 0};
  storage::AsyncDatabase async_db{*db, log, {.inline_execution = true}};
  crypto::PasswordHasher hasher{crypto::PasswordCost{1, 8192}};
  PasswordWorkers passwords{hasher, {.threads = 0}};
  crypto::ServiceCipher cipher{keys(random), random};

 private:
  static std::vector<crypto::ServiceKey> keys(Random& random) {
    std::vector<crypto::ServiceKey> keys;
    keys.push_back(crypto::generate_service_key(random));
    return keys;
  }
};

}  // namespace presetbridge::identity::testing
