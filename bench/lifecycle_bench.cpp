// How many whole lives of a delivery a second (accept, friendship, share, credit, outbound event): intake and
// delivery worker over a database with its fsyncs, with the queue limit lifted and a cloud platform in this
// process that answers at once. Each buyer is new, so each life has its lookup, friendship and share.
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/wakeup.h"
#include "bench_database.h"
#include "cloud/session_cache.h"
#include "crypto/random.h"
#include "net/runtime.h"
#include "services/intake/intake.h"
#include "services/worker/delivery_worker.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"

namespace presetbridge {
namespace {

using Steady = std::chrono::steady_clock;

struct Options {
  int deliveries = 40'000;
  int accounts = 1'000;
  int subscriptions = 1;
  int jobs = 2'048;
  int in_flight = 512;  // orders being accepted
  bool json = false;
  bench::DatabaseOptions database;
};

constexpr storage::Sql kInsertAccount{
    "INSERT INTO accounts (id, name, created_at, granted) VALUES ($1, 'Bench', 0, 1000000)"};
constexpr storage::Sql kInsertSubscription{
    "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, "
    "created_at)"
    " VALUES ($1, $2, 'https://example.com/', $3, '', '', 0)"};
// Of what this run made: ids after $1.
constexpr storage::Sql kCountCompleted{
    "SELECT count(*) FROM deliveries WHERE id > $1 AND status = 'completed'"};
constexpr storage::Sql kCountEvents{"SELECT count(*) FROM outbound_events WHERE id > $1"};

// Answers at once: everybody exists and is a friend.
class InstantCloud final : public cloud::Cloud {
 public:
  std::atomic<int> shares{0};  // one for each delivery, with which it is all but completed
  Millis call_timeout() const override { return Millis{15'000}; }
  Task<cloud::CloudResult<cloud::CloudUser>> find_user(Executor&, cloud::Session, std::string name) override {
    co_return cloud::CloudUser{"u-" + name, name};
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> friendship(Executor&, cloud::Session,
                                                              std::string) override {
    co_return cloud::FriendshipState::friends;
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> request_friendship(Executor&, cloud::Session, std::string,
                                                                      std::string) override {
    co_return cloud::FriendshipState::friends;
  }
  Task<cloud::CloudResult<void>> withdraw_friendship(Executor&, cloud::Session, std::string) override {
    co_return cloud::CloudResult<void>{};
  }
  Task<cloud::CloudResult<cloud::FriendshipPage>> friendships_since(Executor&, cloud::Session, std::string,
                                                                    int) override {
    co_return cloud::FriendshipPage{};
  }
  Task<cloud::CloudResult<cloud::FilePage>> list_files(Executor&, cloud::Session, std::string, int) override {
    co_return cloud::FilePage{};
  }
  Task<cloud::CloudResult<cloud::Share>> share(Executor&, cloud::Session, std::string file, std::string user,
                                               std::string key) override {
    ++shares;
    co_return cloud::Share{file + user, key, Timestamp{}, false};
  }
  Task<cloud::CloudResult<std::optional<cloud::Share>>> find_share(Executor&, cloud::Session, std::string,
                                                                   std::string) override {
    co_return std::optional<cloud::Share>{};
  }
  Task<cloud::CloudResult<void>> revoke_share(Executor&, cloud::Session, std::string, std::string) override {
    co_return cloud::CloudResult<void>{};
  }
};

class InstantAgent final : public cloud::CredentialAgent {
 public:
  explicit InstantAgent(const Clock& clock) : clock_(clock) {}
  Millis login_deadline() const override { return Millis{1'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor&, AccountId account, std::int64_t,
                                                 crypto::Bytes) override {
    co_return cloud::Session{"t", "merchant-" + to_string(account), "m",
                             clock_.now() + std::chrono::hours{10}};
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor&, std::string, crypto::SecretString) override {
    co_return cloud::Session{"t", "m", "m", clock_.now() + std::chrono::hours{10}};
  }

 private:
  const Clock& clock_;
};

struct Feed {
  services::Intake& intake;
  Scheduler& scheduler;
  const std::vector<std::shared_ptr<const services::IntegrationSnapshot>>& integrations;
  const std::atomic<int>& shares;
  std::atomic<int> total;  // orders to send
  int most_waiting;        // orders ahead of the worker, at most
  std::atomic<int> next{0};
  std::atomic<int> running{0};
};

Task<void> feed(Feed& feed) {
  for (int n = feed.next++; n < feed.total; n = feed.next++) {
    while (n - feed.shares > feed.most_waiting && n < feed.total)
      co_await sleep_for(feed.scheduler, Millis{1});
    const std::string id = std::to_string(n);
    domain::OrderEvent event{.order_id = "ORDER-" + id,
                             .email = "buyer" + id + "@example.com",
                             .raw_username = "buyer" + id,
                             .username = "buyer" + id};
    event.lines.push_back({.line_id = "1", .sku = "SKU-1", .title = "Plexi Lead"});
    const auto& integration = feed.integrations[static_cast<std::size_t>(n) % feed.integrations.size()];
    auto accepted = co_await feed.intake.accept(
        feed.scheduler, {integration, std::move(event), std::vector<std::byte>(300), {}});
    if (!accepted || accepted->stale_integration) throw std::runtime_error("an order was not accepted");
  }
  --feed.running;
}

Options read_options(int argc, char** argv) {
  Options options;
  bench::Arguments arguments(argc, argv);
  while (!arguments.done()) {
    const std::string name = arguments.word();
    if (name == "--json")
      options.json = true;
    else if (name == "--deliveries")
      options.deliveries = arguments.number(1, 10'000'000);
    else if (name == "--accounts")
      options.accounts = arguments.number(1, 100'000);
    else if (name == "--subscriptions")
      options.subscriptions = arguments.number(0, 1);
    else if (name == "--jobs")
      options.jobs = arguments.number(1, 100'000);
    else if (!options.database.take(name, arguments))
      throw std::runtime_error("unknown option " + name);
  }
  options.database.check();
  return options;
}

void pause(Millis time) {
  timespec left{.tv_sec = time.count() / 1'000, .tv_nsec = time.count() % 1'000 * 1'000'000};
  while (nanosleep(&left, &left) != 0) {
  }
}

int main_of(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  crypto::initialise();
  net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  NullMetrics metrics;
  const bench::BenchDatabase place(options.database);
  IdSource ids(clock, 0);
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(random));
  const crypto::ServiceCipher cipher(std::move(keys), random);

  std::vector<std::shared_ptr<const services::IntegrationSnapshot>> integrations;
  place.open(clock)->write([&](storage::Tx& tx) {
    integrations.clear();
    for (int n = 0; n < options.accounts; ++n) {
      const auto account = ids.make<AccountId>();
      tx.exec(kInsertAccount, account);
      const auto cloud =
          find_or_insert_cloud_account(tx, "merchant-" + to_string(account), "m", ids.make<CloudAccountId>());
      update_standing(tx, account, {storage::CredentialsStatus::valid, 1, cloud});
      put_credentials(tx, {.account = account, .version = 1, .masked_email = "m", .saved_at = tx.now()},
                      std::vector<std::byte>(200));
      if (options.subscriptions > 0) {
        tx.exec(kInsertSubscription, ids.make<SubscriptionId>(), account,
                storage::Blob(std::vector<std::byte>(80)));
      }
      storage::IntegrationRow row{.id = ids.make<IntegrationId>(),
                                  .account = account,
                                  .name = "Store",
                                  .secret_preview = "…",
                                  .created_at = tx.now()};
      row.encrypted_secret = cipher.encrypt({"integrations.secret", row.id.value}, "secret");
      insert_integration(tx, row);
      replace_mappings(tx, row.id,
                       {{{ids.make<MappingId>(), domain::MatchType::sku, "SKU-1",
                          domain::MappingAction::deliver, "file-1", "preset", "Plexi Lead"},
                         "SKU-1",
                         false}});
      integrations.push_back(std::make_shared<const services::IntegrationSnapshot>(
          services::make_snapshot(*find_integration(tx, row.id), find_mappings(tx, row.id), cipher).value()));
    }
  });

  place.fill(clock);
  const auto database = place.open(clock);
  const std::int64_t before_all = ids.next();

  net::Runtime runtime(2);
  storage::AsyncDatabase async_db(*database, log,
                                  {.writers = options.database.postgres ? options.database.writers : 1,
                                   .max_units = options.database.postgres ? 1U : 2'048U,
                                   .max_queue = 100'000});
  services::DeliveryChanges changes(ids, random);
  InstantCloud cloud;
  InstantAgent agent(clock);
  runtime.start();
  auto& scheduler = runtime.scheduler(1);
  std::unique_ptr<cloud::SessionCache> sessions;
  std::unique_ptr<services::DeliveryWorker> worker;
  services::Intake intake(async_db, changes, clock, [&] { worker->wake(); });
  const bool endless = options.database.idle_transaction > 0;
  Feed feeding{.intake = intake,
               .scheduler = runtime.scheduler(0),
               .integrations = integrations,
               .shares = cloud.shares,
               .total = endless ? std::numeric_limits<int>::max() : options.deliveries,
               .most_waiting = endless ? 2 * options.jobs : options.deliveries};

  const auto begin = Steady::now();
  runtime.run_on(1, [&] {
    sessions = std::make_unique<cloud::SessionCache>(scheduler, clock, agent);
    worker = std::make_unique<services::DeliveryWorker>(
        services::WorkerPorts{scheduler, clock, random, log, metrics, async_db, cloud, *sessions, changes},
        services::WorkerOptions{.jobs_per_minute = 0, .max_jobs = options.jobs, .poll = Millis{50}});
    worker->start();
  });
  runtime.run_on(0, [&] {
    for (int i = 0; i < options.in_flight; ++i) {
      ++feeding.running;
      spawn(feed(feeding), [](Outcome<void> outcome) {
        if (outcome.exception) std::terminate();
      });
    }
  });
  const auto count = [&](const storage::Sql& sql) {
    std::int64_t n = 0;
    database->read(
        [&](storage::Tx& tx) { tx.query(sql, before_all, [&](const storage::Row& r) { n = r.int64(0); }); });
    return n;
  };
  const auto limit = begin + std::chrono::minutes{5};
  std::optional<bench::IdleTransactionEffect> idle;
  double per_second = 0;
  if (endless) {
    // Until as many are finished as are begun.
    while (Steady::now() < limit && cloud.shares < feeding.most_waiting) pause(Millis{20});
    idle = bench::measure_idle_transaction(options.database, place, [&](int seconds) {
      const int shares = cloud.shares;
      const auto from = Steady::now();
      pause(std::chrono::seconds{seconds});
      return (cloud.shares - shares) / std::chrono::duration<double>(Steady::now() - from).count();
    });
    per_second = idle->before;
  } else {
    // The tables are asked only at the end: that takes the time of many deliveries.
    while (Steady::now() < limit &&
           (cloud.shares < options.deliveries || count(kCountCompleted) < options.deliveries))
      pause(Millis{20});
    per_second = options.deliveries / std::chrono::duration<double>(Steady::now() - begin).count();
  }
  feeding.total = 0;
  while (feeding.running > 0) pause(Millis{1});
  const auto stats = async_db.stats();
  const auto deliveries = count(kCountCompleted);
  const auto events = count(kCountEvents);

  std::atomic<bool> stopped{false};
  runtime.run_on(1, [&] { worker->stop([&] { stopped = true; }); });
  while (!stopped) pause(Millis{1});
  runtime.run_on(1, [&] {
    worker.reset();
    sessions.reset();
  });
  async_db.shutdown();
  runtime.stop(Millis{1'000});

  if (endless ? per_second == 0 : deliveries < options.deliveries)
    throw std::runtime_error("the deliveries do not complete");
  rusage self{};
  getrusage(RUSAGE_SELF, &self);
  const double units = static_cast<double>(stats.units) / static_cast<double>(stats.commits);
  if (options.json) {
    fmt::print(
        R"({{"deliveriesPerSecond":{:.0f},"deliveries":{},"accounts":{},"events":{},"unitsPerCommit":{:.1f},{},"peakRssMiB":{}}})"
        "\n",
        per_second, deliveries, options.accounts, events, units, options.database.json(idle),
        self.ru_maxrss / 1'024);
  } else {
    fmt::print("{:.0f} deliveries/s ({} with {} accounts, {} events, {:.1f} units a commit), peak {} MiB\n",
               per_second, deliveries, options.accounts, events, units, self.ru_maxrss / 1'024);
    if (idle) fmt::print("{}\n", idle->text());
  }
  return 0;
}

}  // namespace
}  // namespace presetbridge

int main(int argc, char** argv) {
  try {
    return presetbridge::main_of(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lifecycle_bench: %s\n", e.what());
    return 1;
  }
}
