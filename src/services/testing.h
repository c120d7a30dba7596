// For tests of use cases: a world in virtual time, with a real database (of either engine), a cloud platform
// whose answers a test can hold back, lose or fail, and an account that is ready to deliver.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "base/log.h"
#include "base/metrics.h"
#include "base/testing.h"
#include "cloud/cloud.h"
#include "cloud/session_cache.h"
#include "crypto/service_cipher.h"
#include "identity/testing.h"
#include "services/delivery/actions.h"
#include "services/delivery/change.h"
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
using presetbridge::testing::ManualClock;
using presetbridge::testing::SeededRandom;
using presetbridge::testing::VirtualScheduler;

// The platform in memory. Each call first asks `before` (if set) what to do with it.
class FakeCloud : public cloud::Cloud {
 public:
  enum class Fate {
    answer,        // do it, answer
    fail,          // do nothing, answer 503
    lose_answer,   // do it, and the answer is lost
    lose_request,  // do nothing, and nobody knows
    hold,          // do nothing until release()
    hold_done,     // do it at once, answer at release()
    rate_limit,    // 429
    refuse_session,
    user_gone,  // 404 of the user
    blocked,    // the user blocked the merchant
    reject,     // a definite refusal of the call
  };
  // `call`: "find_user", "friendship", "request", "withdraw", "sweep", "share", "find_share", "revoke".
  std::function<Fate(const std::string& call, const std::string& subject)> before;
  std::function<void()> tick;  // called at every call, before anything
  std::function<void(const std::string& user, const std::string& file)> sharing;  // as such a call begins

  bool auto_accept = true;
  std::optional<Millis> retry_after;  // of a 429
  std::set<std::string> unknown_users;
  std::set<std::string> gone;                    // ids of users who were deleted
  std::map<std::string, std::string> other_ids;  // by username, of those whose id is not "u-name"
  std::set<std::string> unknown_files;
  std::map<std::string, cloud::FriendshipState> friendships;  // by user id
  std::vector<cloud::FriendshipChange> changes;
  std::map<std::pair<std::string, std::string>, cloud::Share> shares;  // (user id, file id)
  std::map<std::pair<std::string, std::string>, int> share_effects;    // how often each was really made
  std::map<std::string, int> requests;                                 // friend requests by user id
  std::map<std::string, int> withdrawals;
  std::vector<std::string> calls;
  std::vector<Timestamp> call_times;
  std::vector<std::string> settled_as;  // whose sessions looked shares up and took them back

  explicit FakeCloud(const ManualClock& clock) : clock_(clock) {}

  void accept(const std::string& user) { change(user, cloud::FriendshipState::friends); }
  void change(const std::string& user, cloud::FriendshipState state) {
    friendships[user] = state;
    changes.push_back({user, state, clock_.now()});
  }
  std::size_t held() const { return held_.size(); }
  void release() {
    auto all = std::move(held_);
    held_.clear();
    for (auto& resume : all) resume();
  }
  int count(const std::string& call) const { return static_cast<int>(std::ranges::count(calls, call)); }

  Millis call_timeout() const override { return Millis{15'000}; }

  Task<cloud::CloudResult<cloud::CloudUser>> find_user(Executor& e, cloud::Session,
                                                       std::string username) override {
    return run<cloud::CloudUser>(e, "find_user", username,
                                 [this, username]() -> cloud::CloudResult<cloud::CloudUser> {
                                   if (unknown_users.contains(username))
                                     return error(cloud::CloudError::Kind::user_not_found);
                                   if (const auto other = other_ids.find(username); other != other_ids.end())
                                     return cloud::CloudUser{other->second, username};
                                   std::string id = "u-";
                                   for (char c : username) id += static_cast<char>(std::tolower(c));
                                   return cloud::CloudUser{id, username};
                                 });
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> friendship(Executor& e, cloud::Session,
                                                              std::string user) override {
    return run<cloud::FriendshipState>(e, "friendship", user,
                                       [this, user]() -> cloud::CloudResult<cloud::FriendshipState> {
                                         if (gone.contains(user))
                                           return error(cloud::CloudError::Kind::user_not_found);
                                         return friendships[user];
                                       });
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> request_friendship(Executor& e, cloud::Session,
                                                                      std::string user,
                                                                      std::string) override {
    return run<cloud::FriendshipState>(
        e, "request", user, [this, user]() -> cloud::CloudResult<cloud::FriendshipState> {
          if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
          ++requests[user];
          friendships[user] =
              auto_accept ? cloud::FriendshipState::friends : cloud::FriendshipState::requested;
          return friendships[user];
        });
  }
  Task<cloud::CloudResult<void>> withdraw_friendship(Executor& e, cloud::Session, std::string user) override {
    return run<void>(e, "withdraw", user, [this, user]() -> cloud::CloudResult<void> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      ++withdrawals[user];
      if (friendships[user] == cloud::FriendshipState::requested)
        friendships[user] = cloud::FriendshipState::none;
      return {};
    });
  }
  Task<cloud::CloudResult<cloud::FriendshipPage>> friendships_since(Executor& e, cloud::Session,
                                                                    std::string cursor, int limit) override {
    return run<cloud::FriendshipPage>(
        e, "sweep", cursor, [this, cursor, limit]() -> cloud::CloudResult<cloud::FriendshipPage> {
          const std::size_t from = cursor.empty() ? 0 : std::stoul(cursor);
          const std::size_t to = std::min(changes.size(), from + static_cast<std::size_t>(limit));
          const auto at = [this](std::size_t i) { return changes.begin() + static_cast<std::ptrdiff_t>(i); };
          return cloud::FriendshipPage{{at(from), at(to)}, std::to_string(to), to < changes.size()};
        });
  }
  Task<cloud::CloudResult<cloud::FilePage>> list_files(Executor& e, cloud::Session, std::string,
                                                       int) override {
    return run<cloud::FilePage>(e, "files", "",
                                []() -> cloud::CloudResult<cloud::FilePage> { return cloud::FilePage{}; });
  }
  Task<cloud::CloudResult<cloud::Share>> share(Executor& e, cloud::Session, std::string file,
                                               std::string user, std::string key) override {
    if (sharing) sharing(user, file);
    return run<cloud::Share>(e, "share", file, [this, file, user, key]() -> cloud::CloudResult<cloud::Share> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      if (unknown_files.contains(file)) return error(cloud::CloudError::Kind::file_not_found);
      if (friendships[user] != cloud::FriendshipState::friends)
        return error(cloud::CloudError::Kind::not_friends);
      if (auto found = shares.find({user, file}); found != shares.end()) {
        auto existing = found->second;
        existing.existed = true;
        return existing;
      }
      ++share_effects[{user, file}];
      return shares[{user, file}] = {"s-" + file + user, key, clock_.now(), false};
    });
  }
  Task<cloud::CloudResult<std::optional<cloud::Share>>> find_share(Executor& e, cloud::Session session,
                                                                   std::string file,
                                                                   std::string user) override {
    settled_as.push_back(session.user_id);
    return run<std::optional<cloud::Share>>(
        e, "find_share", file, [this, file, user]() -> cloud::CloudResult<std::optional<cloud::Share>> {
          if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
          const auto found = shares.find({user, file});
          return found == shares.end() ? std::nullopt : std::optional(found->second);
        });
  }
  Task<cloud::CloudResult<void>> revoke_share(Executor& e, cloud::Session session, std::string file,
                                              std::string user) override {
    settled_as.push_back(session.user_id);
    return run<void>(e, "revoke", file, [this, file, user]() -> cloud::CloudResult<void> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      shares.erase({user, file});
      return {};
    });
  }

  static std::unexpected<cloud::CloudError> error(cloud::CloudError::Kind kind, bool unknown = false) {
    return std::unexpected(cloud::CloudError{kind, "planted", unknown, {}});
  }

 private:
  template <class T>
  Task<cloud::CloudResult<T>> run(Executor& executor, std::string call, std::string subject,
                                  std::function<cloud::CloudResult<T>()> effect) {
    calls.push_back(call);
    call_times.push_back(clock_.now());
    if (tick) tick();
    const Fate fate = before ? before(call, subject) : Fate::answer;
    std::optional<cloud::CloudResult<T>> result;
    switch (fate) {
      case Fate::answer:
        result = effect();
        break;
      case Fate::fail:
        result = error(cloud::CloudError::Kind::unavailable);
        break;
      case Fate::lose_answer:
        effect();
        result = error(cloud::CloudError::Kind::unavailable, true);
        break;
      case Fate::lose_request:
        result = error(cloud::CloudError::Kind::unavailable, true);
        break;
      case Fate::rate_limit:
        result = std::unexpected(
            cloud::CloudError{cloud::CloudError::Kind::rate_limited, "planted", false, retry_after});
        break;
      case Fate::user_gone:
        result = error(cloud::CloudError::Kind::user_not_found);
        break;
      case Fate::blocked:
        result = error(cloud::CloudError::Kind::blocked);
        break;
      case Fate::reject:
        result = error(cloud::CloudError::Kind::rejected);
        break;
      case Fate::refuse_session:
        result = error(cloud::CloudError::Kind::session_refused);
        break;
      case Fate::hold_done:
        result = effect();
        co_await suspend<int>(executor, [this](auto resume) { held_.emplace_back([resume] { resume(0); }); });
        break;
      case Fate::hold:
        co_await suspend<int>(executor, [this](auto resume) { held_.emplace_back([resume] { resume(0); }); });
        result = effect();
        break;
    }
    co_return std::move(*result);
  }

  const ManualClock& clock_;
  std::vector<std::function<void()>> held_;
};

class FakeAgent final : public cloud::CredentialAgent {
 public:
  explicit FakeAgent(const ManualClock& clock) : clock_(clock) {}
  bool refuse = false;
  std::set<AccountId> refused;  // these accounts' logins alone
  bool away = false;
  bool busy = false;               // no login finds a place
  std::set<AccountId> unreadable;  // the stored logins of these cannot be opened
  int logins = 0;
  std::string user_id = "m-1";
  std::map<AccountId, std::string> user_ids;  // of accounts with a user of their own
  std::function<void()> during;               // called while a login is under way

  Millis login_deadline() const override { return Millis{20'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor& executor, AccountId account, std::int64_t,
                                                 crypto::Bytes) override {
    ++logins;
    if (during) during();
    co_await suspend<int>(executor, [](auto resume) { resume(0); });
    if (unreadable.contains(account))
      co_return FakeCloud::error(cloud::CloudError::Kind::credentials_unreadable);
    if (away) co_return FakeCloud::error(cloud::CloudError::Kind::unavailable);
    if (busy) co_return FakeCloud::error(cloud::CloudError::Kind::busy);
    if (refuse || refused.contains(account))
      co_return FakeCloud::error(cloud::CloudError::Kind::login_refused);
    const auto own = user_ids.find(account);
    co_return cloud::Session{"token-" + to_string(account), own == user_ids.end() ? user_id : own->second,
                             "merchant", clock_.now() + std::chrono::hours{1}};
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor& executor, std::string,
                                                      crypto::SecretString) override {
    return login(executor, AccountId{1}, 0, {});
  }

 private:
  const ManualClock& clock_;
};

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
  Sums kept;
  Sums looked_at;
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
      ++of.looked_at[{to_unix_ms(storage::quarter_of(at)), r.int64(0), static_cast<std::int64_t>(kind),
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
    of.kept[{r.int64(0), r.int64(1), kind, r.int64(3)}] += r.int64(4);
  });
  std::erase_if(of.kept, [](const auto& sum) { return sum.second == 0; });
  return of;
}

// The rules that hold at every end (spec 3.9, 11.1).
inline void expect_activity_is_right(World& world) {
  const auto activity = world.write([](storage::Tx& tx) { return sum_activity(tx); });
  EXPECT_EQ(activity.kept, activity.looked_at);
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
