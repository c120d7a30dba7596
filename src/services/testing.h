// For tests of use cases: a world in virtual time, with a real database (of either engine), the cloud platform of
// fake_cloud_testing.h, and an account that is ready to deliver.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/testing.h"
#include "cloud/session_cache.h"
#include "crypto/service_cipher.h"
#include "identity/testing.h"
#include "services/delivery/actions.h"
#include "services/delivery/change.h"
#include "services/fake_cloud_testing.h"
#include "services/intake/reception.h"
#include "services/worker/delivery_worker.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/event_store.h"
#include "storage/testing.h"

namespace presetbridge::services::testing {

using identity::testing::RecordingLog;
using presetbridge::testing::SeededRandom;
using presetbridge::testing::VirtualScheduler;

// One account with credits and a valid login, one generic integration with the mappings sku-1 .. sku-9 to
// file-1 .. file-9.
class World {
 public:
  template <class Fn>
  auto write(Fn fn) {
    using T = std::invoke_result_t<Fn&, storage::Tx&>;
    if constexpr (std::is_void_v<T>) {
      database->write(fn);
    } else {
      std::optional<T> result;
      database->write([&](storage::Tx& tx) { result.emplace(fn(tx)); });
      return std::move(*result);
    }
  }
  struct Tenant {
    AccountId account;
    CloudAccountId cloud_account;
    IntegrationId integration;
  };
  // A merchant with a valid login as that cloud user, and an integration.
  Tenant add_tenant(const std::string& cloud_user, std::int64_t credits = 1'000) {
    Tenant tenant{ids.make<AccountId>(), CloudAccountId{ids.next()}, ids.make<IntegrationId>()};
    if (cloud_user != agent.user_id) agent.user_ids[tenant.account] = cloud_user;
    write([&](storage::Tx& tx) {
      tx.exec_script("INSERT INTO accounts (id, name, created_at, granted) VALUES (" +
                     std::to_string(tenant.account.value) + ", 'Merchant', 0, " + std::to_string(credits) +
                     ");");
      tenant.cloud_account = find_or_insert_cloud_account(tx, cloud_user, "merchant", tenant.cloud_account);
      update_standing(tx, tenant.account, {storage::CredentialsStatus::valid, 1, tenant.cloud_account});
      put_credentials(
          tx, {.account = tenant.account, .version = 1, .masked_email = "m***@x", .saved_at = tx.now()},
          std::vector<std::byte>(8));
      insert_integration(tx, {.id = tenant.integration,
                              .account = tenant.account,
                              .name = "Store",
                              .encrypted_secret =
                                  cipher.encrypt({"integrations.secret", tenant.integration.value}, "secret"),
                              .secret_preview = "…ret",
                              .created_at = tx.now()});
      std::vector<storage::MappingRow> mappings;
      for (int i = 1; i <= 9; ++i) {
        const std::string n = std::to_string(i);
        mappings.push_back({{ids.make<MappingId>(), domain::MatchType::sku, "sku-" + n,
                             domain::MappingAction::deliver, "file-" + n, "preset", "File " + n},
                            "sku-" + n,
                            false});
      }
      replace_mappings(tx, tenant.integration, mappings);
    });
    return tenant;
  }
  explicit World(WorkerOptions worker_options = unlimited(), std::int64_t credits = 1'000,
                 storage::testing::WrapDatabase wrap = {})
      : database(std::move(wrap)) {
    const Tenant tenant = add_tenant("m-1", credits);
    account = tenant.account;
    cloud_account = tenant.cloud_account;
    integration = tenant.integration;
    start_worker(worker_options);
  }
  ~World() { stop_worker(); }

  // Days of virtual time are cheap when nothing polls in them; timers and wake-ups do the work.
  static WorkerOptions unlimited() {
    return {.jobs_per_minute = 0, .poll = std::chrono::minutes{10}, .maintenance = std::chrono::minutes{5}};
  }
  // For minutes of virtual time in which missed work is to be found.
  static WorkerOptions attentive() {
    return {.jobs_per_minute = 0, .poll = std::chrono::minutes{1}, .maintenance = Millis{20'000}};
  }

  void start_worker(WorkerOptions options) {
    worker_options_ = options;
    sessions = std::make_unique<cloud::SessionCache>(scheduler, database.clock, agent);
    worker = std::make_unique<DeliveryWorker>(
        WorkerPorts{scheduler, database.clock, random, log, metrics, async_db, cloud, *sessions, changes},
        options);
    worker->start();
  }
  void stop_worker() {
    bool stopped = false;
    worker->stop([&] { stopped = true; });
    cloud.release();
    scheduler.advance(Millis{60'000});
    EXPECT_TRUE(stopped);
    worker.reset();
    sessions.reset();
  }
  // The process dies: it begins nothing any more, and what it has in flight is heard of when a test releases
  // it, if ever.
  void crash(std::optional<WorkerOptions> options = std::nullopt) {
    worker->stop([] {});
    graveyard.push_back({std::move(worker), std::move(sessions)});
    start_worker(options.value_or(worker_options_));
  }

  // Runs a task to its end; virtual time stands still.
  template <class T>
  T await(Task<T> task) {
    std::optional<T> result;
    spawn(std::move(task), [&](Outcome<T> o) {
      if (o.exception) std::rethrow_exception(o.exception);
      result = std::move(o.value);
    });
    for (int i = 0; i < 1'000 && !result; ++i) scheduler.run();
    return std::move(result.value());
  }

  domain::OrderEvent order(const std::string& id, const std::string& username,
                           std::vector<std::string> skus) {
    domain::OrderEvent event{
        .order_id = id, .email = "buyer@example.com", .raw_username = username, .username = username};
    for (std::size_t i = 0; i < skus.size(); ++i) {
      event.lines.push_back({.line_id = "L" + std::to_string(i + 1), .sku = skus[i]});
    }
    return event;
  }
  // The store takes files back by itself (spec 2.11).
  void auto_revoke() {
    write([&](storage::Tx& tx) {
      auto row = lock_integration(tx, integration).value();
      row.auto_revoke = true;
      update_integration(tx, row);
    });
  }
  // Lets no job start for a second of virtual time: what a test sets up meanwhile is all there at the first.
  void hold_queue() {
    write([](storage::Tx& tx) {
      const Timestamp until = tx.now() + Millis{1'000};
      tx.exec({"UPDATE cloud_accounts SET blocked_until = $1, ready_at = $1"}, until);
    });
  }
  // Accepts the event as one of a store that sends later events too; the worker runs, but time stands still.
  Accepted accept(domain::OrderEvent event) { return accept(integration, std::move(event)); }
  Accepted accept(IntegrationId store, domain::OrderEvent event) {
    event.received_at = database.clock.now();
    const auto accepted =
        await(reception.take(scheduler, [&]() -> Task<Expected<std::optional<Reception::Ready>>> {
          auto snapshot = co_await directory.find(scheduler, store);
          co_return Reception::Ready{{snapshot.value(), event, {}, {}}, {}};
        }));
    return accepted.value().value();
  }
  // Accepts, and lets the worker do what it can.
  DeliveryId deliver(domain::OrderEvent event) {
    const auto accepted = accept(std::move(event));
    settle();
    return accepted.delivery.value();
  }
  void settle(Millis time = Millis{10'000}) { scheduler.advance(time); }

  storage::DeliveryRow delivery(DeliveryId id) {
    return write([&](storage::Tx& tx) { return find_delivery(tx, id).value(); });
  }
  std::vector<storage::ItemRow> items(DeliveryId id) {
    return write([&](storage::Tx& tx) { return find_items(tx, id); });
  }
  domain::Balance balance() {
    return write([&](storage::Tx& tx) { return find_balance(tx, account).value(); });
  }
  std::string status(DeliveryId id) {
    const auto row = delivery(id);
    std::string text(to_string(row.status));
    if (row.resolution != domain::ResolutionCode::none) text += " " + std::string(to_string(row.resolution));
    return text;
  }
  storage::CredentialsStanding standing(AccountId of) {
    return write([&](storage::Tx& tx) { return find_standing(tx, of).value(); });
  }
  storage::CloudAccountRow queue() {
    return write([&](storage::Tx& tx) { return find_cloud_account(tx, cloud_account).value(); });
  }
  // The row of this delivery cannot be read from now on, and can again.
  void spoil(DeliveryId id) {
    write([&](storage::Tx& tx) {
      tx.exec({"UPDATE deliveries SET pending_action = 'refresh', pending_actor = 'nobody' WHERE id = $1"},
              id);
    });
  }
  void mend(DeliveryId id) {
    write([&](storage::Tx& tx) {
      tx.exec({"UPDATE deliveries SET pending_action = NULL, pending_actor = NULL WHERE id = $1"}, id);
    });
  }
  // From here on the column takes what it must not hold: for rows that cannot be read.
  void drop_check(const std::string& table, const std::string& column) {
    const bool sqlite = database->engine() == "sqlite";
    write([&](storage::Tx& tx) {
      tx.exec_script(sqlite
                         ? "PRAGMA ignore_check_constraints = 1;"
                         : "ALTER TABLE " + table + " DROP CONSTRAINT " + table + "_" + column + "_check;");
    });
  }
  void grant(std::int64_t credits) {
    write([&](storage::Tx& tx) {
      update_balance(tx, account, domain::grant(*lock_balance(tx, account), credits).value());
      give_out_credits(tx, account, credits);
    });
    if (worker) worker->wake();
  }
  identity::Principal merchant() const {
    return {.account = account, .permissions = identity::PermissionSet::all()};
  }

  storage::testing::SuiteDatabase database;
  VirtualScheduler scheduler{database.clock};
  SeededRandom random;
  IdSource ids{database.clock, 1};
  RecordingLog log;
  NullMetrics metrics;
  crypto::ServiceCipher cipher = make_cipher(random);
  storage::AsyncDatabase async_db{*database, log, {.inline_execution = true}};
  DeliveryChanges changes{ids, random};
  FakeCloud cloud{database.clock};
  FakeAgent agent{database.clock};
  IntegrationDirectory directory{async_db, cipher, database.clock, nullptr};
  Intake intake{async_db, changes, database.clock, [this] {
                  if (worker) worker->wake();
                }};
  Reception reception{{directory, intake, async_db, database.clock, metrics}, {}};
  DeliveryActions actions{async_db, changes, 5, [this] {
                            if (worker) worker->wake();
                          }};
  std::unique_ptr<cloud::SessionCache> sessions;
  std::unique_ptr<DeliveryWorker> worker;
  std::vector<std::pair<std::unique_ptr<DeliveryWorker>, std::unique_ptr<cloud::SessionCache>>> graveyard;

  AccountId account;
  CloudAccountId cloud_account;
  IntegrationId integration;

 private:
  WorkerOptions worker_options_;  // of the worker that was started last
  static crypto::ServiceCipher make_cipher(Random& random) {
    std::vector<crypto::ServiceKey> keys;
    keys.push_back(crypto::generate_service_key(random));
    return {std::move(keys), random};
  }
};

// Applies to the first call; later ones are answered.
inline FakeCloud::Fate once(bool& done, FakeCloud::Fate fate) {
  return std::exchange(done, true) ? FakeCloud::Fate::answer : fate;
}

// Ann's order, as a store that also sends later events sends it: its state at `minute`.
inline domain::OrderEvent later(World& world, const std::string& id, std::vector<std::string> skus,
                                int minute) {
  auto event = world.order(id, "Ann", std::move(skus));
  event.provider = domain::Provider::provider_a;
  event.updated_at = from_unix_ms(1'790'000'000'000) + std::chrono::minutes{minute};
  return event;
}

// The sums for statistics must equal the counts of a scan of all deliveries.
struct ActivitySums {
  // quarter, account, kind, integration and key
  using Sums = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t>;
  Sums stored;
  Sums counted;
};
inline ActivitySums sum_activity(storage::Tx& tx) {
  using storage::Activity;
  ActivitySums of;
  static constexpr storage::Sql all{
      "SELECT account_id, integration_id, COALESCE(api_key_id, 0), status, created_at, completed_at,"
      " counted_since FROM deliveries WHERE dry_run = 0"};
  static constexpr storage::Sql sums{
      "SELECT quarter, account_id, kind, integration_id + api_key_id, amount FROM activity WHERE kind >= 2"};
  tx.query(all, [&](const storage::Row& r) {
    const auto add = [&](Timestamp at, Activity kind, bool with_key) {
      ++of.counted[{to_unix_ms(storage::quarter_of(at)), r.int64(0), static_cast<std::int64_t>(kind),
                    r.int64(1) + (with_key ? r.int64(2) : 0)}];
    };
    const std::string status = r.string(3);
    add(r.time(4), Activity::made, true);
    if (status == "invalidated") add(r.time(4), Activity::invalidated, true);
    if (status == "failed") {
      add(r.time(4), Activity::failed, true);
      add(r.time(6), Activity::came_to_fail, false);
    }
    if (status == "completed") {
      add(r.time(4), Activity::completed, true);
      // Of any duration.
      add(r.time(5), Activity::took, false);
    }
  });
  tx.query(sums, [&](const storage::Row& r) {
    const auto kind = std::min(r.int64(2), static_cast<std::int64_t>(Activity::took));
    of.stored[{r.int64(0), r.int64(1), kind, r.int64(3)}] += r.int64(4);
  });
  std::erase_if(of.stored, [](const auto& sum) { return sum.second == 0; });
  return of;
}

// The rules that hold at every end (spec 3.9, 11.1).
inline void expect_activity_is_right(World& world) {
  const auto activity = world.write([](storage::Tx& tx) { return sum_activity(tx); });
  EXPECT_EQ(activity.stored, activity.counted);
}

inline void expect_books_balance(World& world) {
  expect_activity_is_right(world);
  int shared = 0;
  for (const auto& [what, times] : world.cloud.share_effects) {
    EXPECT_EQ(times, 1) << what.first << " got " << what.second << " more than once";
    shared += times;
  }
  EXPECT_EQ(world.balance().spent, shared);
  EXPECT_EQ(world.balance().held, 0);
  const auto ledger = world.write([&](storage::Tx& tx) { return list_ledger(tx, world.account, {}, 1'000); });
  EXPECT_EQ(static_cast<int>(ledger.size()), shared);
}

}  // namespace presetbridge::services::testing
