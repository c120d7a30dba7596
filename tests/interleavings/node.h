// A node of the service, and what all nodes share: the merchant's cloud platform, payment processor and keys.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "cloud/cloud_login.h"
#include "crypto/vault_keys.h"
#include "services/credits/credits.h"
#include "services/orders/orders.h"
#include "services/payments/processor_testing.h"
#include "services/payments/settlement.h"
#include "services/stores/integrations.h"
#include "services/testing.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/cloud_sessions.h"
#include "services/vault/login_guard.h"
#include "services/vault/stored_logins.h"
#include "services/vault/vault.h"

namespace presetbridge::interleavings {

using presetbridge::testing::ManualClock;
using presetbridge::testing::SeededRandom;
using presetbridge::testing::VirtualScheduler;
using services::testing::FakeCloud;
using services::testing::FakeProcessor;

// Logs in whoever an e-mail address says ("name@…"), sealed or not; one that nobody sealed is m-1's.
class Agent final : public cloud::CredentialAgent {
 public:
  Agent(const ManualClock& clock, const crypto::VaultPrivateKey& key) : clock_(clock), key_(key) {}
  std::set<std::int64_t> refused;  // versions of the stored login

  Millis login_deadline() const override { return Millis{20'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                                 crypto::Bytes sealed) override {
    co_await suspend<int>(executor, [](auto resume) { resume(0); });
    if (refused.contains(version)) co_return FakeCloud::error(cloud::CloudError::Kind::login_refused);
    const auto opened = key_.open({account, version}, sealed);
    co_return session_of(opened ? cloud::decode_cloud_login(opened->reveal())->email : "m-1@example.com");
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor& executor, std::string email,
                                                      crypto::SecretString) override {
    co_await suspend<int>(executor, [](auto resume) { resume(0); });
    co_return session_of(email);
  }

 private:
  cloud::Session session_of(const std::string& email) const {
    const auto user = email.substr(0, email.find('@'));
    return {"token of " + user, user, "merchant", clock_.now() + std::chrono::hours{1}};
  }
  const ManualClock& clock_;
  const crypto::VaultPrivateKey& key_;
};

// Keeps what somebody ought to see.
class TroubleLog final : public Log {
 public:
  void write(Severity severity, std::string_view message,
             std::span<const LogField> fields) noexcept override {
    if (severity >= Severity::warn) lines_.write(severity, message, fields);
  }
  const std::string& text() const { return lines_.text; }

 private:
  services::testing::RecordingLog lines_;
};

struct Surroundings {
  explicit Surroundings(ManualClock& the_clock) : clock(the_clock) {}
  ManualClock& clock;
  FakeCloud cloud{clock};
  FakeProcessor processor{clock};
  SeededRandom random;
  crypto::ServiceCipher cipher = make_cipher(random);
  crypto::VaultPrivateKey vault_key = crypto::VaultPrivateKey::generate(random);
  crypto::SealingVaultKey sealing_key{vault_key.public_key()};
  Agent agent{clock, vault_key};

 private:
  static crypto::ServiceCipher make_cipher(Random& random) {
    std::vector<crypto::ServiceKey> keys;
    keys.push_back(crypto::generate_service_key(random));
    return {std::move(keys), random};
  }
};

class Node {
 public:
  // Node `number` (spec 14: ids), over the database as this node sees it.
  Node(storage::Database& database, Surroundings& world, int number, services::WorkerOptions options);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The delivery worker; it looks at all that there is once.
  void start_worker();
  // What it has in hand ends; false: it does not end.
  bool stop_worker();
  // The process dies: what it has in flight is heard of when the platform answers, if ever.
  void lose_worker();
  // It is told that there may be work, or begins, and does what there is within `time`.
  void work(Millis time = Millis{25});
  // Lets `time` pass for this node; other nodes stand still.
  void pass(Millis time);

  template <class T>
  T await(Task<T> task) {
    std::optional<T> result;
    spawn(std::move(task), [&](Outcome<T> o) {
      if (o.exception) std::rethrow_exception(o.exception);
      result = std::move(o.value);
    });
    for (int i = 0; i < 1'000 && !result; ++i) scheduler.run();
    if (!result) throw std::runtime_error("a use case does not end");
    return std::move(*result);
  }
  template <class Fn>
  auto write(Fn fn) {
    using T = std::invoke_result_t<Fn&, storage::Tx&>;
    std::optional<T> result;
    database.write([&](storage::Tx& tx) { result.emplace(fn(tx)); });
    return std::move(*result);
  }
  // The event as a store's webhook brings it.
  services::Accepted accept(IntegrationId store, domain::OrderEvent event);

  storage::Database& database;
  Surroundings& world;
  VirtualScheduler scheduler{world.clock};
  SeededRandom random;
  IdSource ids;
  TroubleLog log;
  NullMetrics metrics;
  storage::AsyncDatabase async_db{database, log, {.max_units = 1, .inline_execution = true}};
  services::DeliveryChanges changes{ids, random};
  services::IntegrationDirectory directory{async_db, world.cipher, world.clock, nullptr};
  services::Intake intake{async_db, changes, world.clock, [] {}};
  services::DeliveryActions actions{async_db, changes, 5, [] {}};
  services::Orders orders{async_db, changes, directory, [] {}};
  services::Credits credits{async_db, ids, [] {}};
  services::Settlement settlement{async_db, changes, world.processor, log, [] {}};
  services::Integrations integrations{async_db, ids, random, world.cipher, directory, [] {}};
  cloud::SessionCache sessions{scheduler, world.clock, world.agent};

 private:
  services::CloudSessions shared_sessions_{scheduler, sessions};
  services::LoginGuard guard_{async_db, ids, [] { return std::string("key of e-mail hashes"); }};
  services::CloudLogins logins_{async_db, ids, random, world.cipher, world.agent, guard_};
  services::OwnStoredLogins stored_{async_db,         world.cloud, world.agent,
                                    shared_sessions_, logins_,     world.clock};
  const services::WorkerOptions options_;

 public:
  services::Vault vault{{.async_db = async_db,
                         .ids = ids,
                         .random = random,
                         .log = log,
                         .agent = world.agent,
                         .stored = stored_,
                         .guard = guard_,
                         .key = world.sealing_key,
                         .forget_sessions = [this](AccountId id) { sessions.invalidate(id); },
                         .retire_sessions = [this](AccountId id) { sessions.retire(id); },
                         .changed = [] {}}};
  std::unique_ptr<services::DeliveryWorker> worker;

 private:
  std::unique_ptr<services::DeliveryWorker> lost_;
};

}  // namespace presetbridge::interleavings
