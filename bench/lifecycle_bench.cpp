// How many whole lives of a delivery a second (accept, friendship, share, credit, outbound event): intake and
// delivery worker over a SQLite file with its fsyncs, with the queue limit lifted and a cloud platform in
// this process that answers at once. Each buyer is new, so each life has its lookup, friendship and share.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "cloud/session_cache.h"
#include "crypto/random.h"
#include "net/runtime.h"
#include "services/intake/intake.h"
#include "services/worker/delivery_worker.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"
#include "storage/migrations.h"
#include "storage/sqlite/sqlite_database.h"
#include "storage/testing.h"

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
  bool postgres = false;
  int writers = 4;  // connections, with PostgreSQL
};

constexpr storage::Sql kInsertAccount{
    "INSERT INTO accounts (id, name, created_at, granted) VALUES ($1, 'Bench', 0, 1000000)"};
constexpr storage::Sql kInsertSubscription{
    "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, "
    "created_at)"
    " VALUES ($1, $2, 'https://example.com/', $3, '', '', 0)"};
constexpr storage::Sql kCountCompleted{"SELECT count(*) FROM deliveries WHERE status = 'completed'"};
constexpr storage::Sql kCountEvents{"SELECT count(*) FROM outbound_events"};

// Answers at once: everybody exists and is a friend.
class InstantCloud final : public cloud::Cloud {
 public:
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
  std::atomic<int> next{0};
  std::atomic<int> accepted{0};
  int total = 0;
};

Task<void> feed(Feed& feed) {
  for (int n = feed.next++; n < feed.total; n = feed.next++) {
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
    ++feed.accepted;
  }
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    if (name == "--json")
      options.json = true;
    else if (name == "--deliveries")
      options.deliveries = std::clamp(number(), 1, 10'000'000);
    else if (name == "--accounts")
      options.accounts = std::clamp(number(), 1, 100'000);
    else if (name == "--subscriptions")
      options.subscriptions = std::clamp(number(), 0, 1);
    else if (name == "--jobs")
      options.jobs = std::clamp(number(), 1, 100'000);
    else if (name == "--engine") {
      const std::string engine = i + 1 < argc ? argv[++i] : "";
      if (engine != "sqlite" && engine != "postgres")
        throw std::runtime_error("--engine is sqlite or postgres");
      options.postgres = engine == "postgres";
    } else if (name == "--writers")
      options.writers = std::clamp(number(), 1, 64);
    else
      throw std::runtime_error("unknown option " + name);
  }
  return options;
}

int main_of(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  crypto::initialise();
  const storage::testing::TemporaryDirectory directory;
  net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  NullMetrics metrics;
  std::optional<storage::testing::TemporaryPostgres> server;
  if (options.postgres) server.emplace();
  auto opened = server ? storage::open_postgres({.url = server->url(), .writers = options.writers})
                       : storage::open_sqlite({.path = directory.file("bench.db"), .lock_file = {}}, clock);
  if (!opened || !storage::migrate(**opened)) throw std::runtime_error("the database does not open");
  auto& database = **opened;
  IdSource ids(clock, 0);
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(random));
  const crypto::ServiceCipher cipher(std::move(keys), random);

  std::vector<std::shared_ptr<const services::IntegrationSnapshot>> integrations;
  database.write([&](storage::Tx& tx) {
    integrations.clear();
    for (int n = 0; n < options.accounts; ++n) {
      const auto account = ids.make<AccountId>();
      tx.exec(kInsertAccount, account);
      const auto cloud =
          find_or_insert_cloud_account(tx, "merchant-" + to_string(account), "m", ids.make<CloudAccountId>());
      update_standing(tx, account, {storage::CredentialsStatus::valid, 1, cloud});
      put_credentials(tx, {.account = account,
                           .version = 1,
                           .sealed = std::vector<std::byte>(200),
                           .masked_email = "m",
                           .saved_at = tx.now()});
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

  net::Runtime runtime(2);
  storage::GroupCommit commits(
      database, log, {.writers = server ? options.writers : 1, .max_units = 2'048, .max_queue = 100'000});
  services::DeliveryChanges changes(ids, random);
  InstantCloud cloud;
  InstantAgent agent(clock);
  runtime.start();
  auto& scheduler = runtime.scheduler(1);
  std::unique_ptr<cloud::SessionCache> sessions;
  std::unique_ptr<services::DeliveryWorker> worker;
  services::Intake intake(commits, changes, [&] { worker->wake(); });
  Feed feeding{intake, runtime.scheduler(0), integrations, {}, {}, options.deliveries};

  const auto begin = Steady::now();
  runtime.run_on(1, [&] {
    sessions = std::make_unique<cloud::SessionCache>(scheduler, clock, agent);
    worker = std::make_unique<services::DeliveryWorker>(
        services::WorkerPorts{scheduler, clock, random, log, metrics, commits, cloud, *sessions, changes},
        services::WorkerOptions{.jobs_per_minute = 0, .max_jobs = options.jobs, .poll = Millis{50}});
    worker->start();
  });
  runtime.run_on(0, [&] {
    for (int i = 0; i < options.in_flight; ++i) {
      spawn(feed(feeding), [](Outcome<void> outcome) {
        if (outcome.exception) std::terminate();
      });
    }
  });
  const auto count = [&](const storage::Sql& sql) {
    std::int64_t n = 0;
    database.read([&](storage::Tx& tx) { tx.query(sql, [&](const storage::Row& r) { n = r.int64(0); }); });
    return n;
  };
  while (count(kCountCompleted) < options.deliveries) {
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
    nanosleep(&pause, nullptr);
    if (Steady::now() - begin > std::chrono::minutes{5})
      throw std::runtime_error("the deliveries do not complete");
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
  const auto stats = commits.stats();
  const auto events = count(kCountEvents);

  std::atomic<bool> stopped{false};
  runtime.run_on(1, [&] { worker->stop([&] { stopped = true; }); });
  while (!stopped) {
    timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
  runtime.run_on(1, [&] {
    worker.reset();
    sessions.reset();
  });
  commits.shutdown();
  runtime.stop(Millis{1'000});

  rusage self{};
  getrusage(RUSAGE_SELF, &self);
  if (options.json) {
    std::printf(
        "{\"deliveriesPerSecond\":%.0f,\"deliveries\":%d,\"accounts\":%d,\"events\":%lld,\"unitsPerCommit\":%"
        ".1f,"
        "\"engine\":\"%s\",\"peakRssMiB\":%ld}\n",
        options.deliveries / seconds, options.deliveries, options.accounts, static_cast<long long>(events),
        static_cast<double>(stats.units) / static_cast<double>(stats.commits),
        options.postgres ? "postgres" : "sqlite", self.ru_maxrss / 1'024);
  } else {
    std::printf(
        "%.0f deliveries/s (%d with %d accounts, %lld events, %.1f units a commit), peak %ld MiB\n",
        options.deliveries / seconds, options.deliveries, options.accounts, static_cast<long long>(events),
        static_cast<double>(stats.units) / static_cast<double>(stats.commits), self.ru_maxrss / 1'024);
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
