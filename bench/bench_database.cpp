#include "bench_database.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <stdexcept>

#include "storage/schema/migrations.h"
#include "storage/testing/old_deliveries.h"

namespace presetbridge::bench {
namespace {

constexpr Millis kLong{3'600'000};  // an hour: nothing here is given up because it takes long
constexpr const char* kFile = "bench.db";
constexpr storage::Sql kRead{"SELECT count(*) FROM used_keys"};

std::unique_ptr<storage::Database> opened(Expected<std::unique_ptr<storage::Database>> database) {
  if (!database) throw std::runtime_error(database.error().message);
  return std::move(*database);
}

}  // namespace

int Arguments::number(int least, int most) {
  return std::clamp(std::atoi(word().c_str()), least, most);
}

bool DatabaseOptions::take(const std::string& name, Arguments& arguments) {
  if (name == "--engine") {
    const std::string engine = arguments.word();
    if (engine != "sqlite" && engine != "postgres")
      throw std::runtime_error("--engine is sqlite or postgres");
    postgres = engine == "postgres";
  } else if (name == "--writers") {
    writers = arguments.number(1, 64);
  } else if (name == "--old-deliveries") {
    old_deliveries = arguments.number(0, 100'000'000);
  } else if (name == "--idle-transaction") {
    idle_transaction = arguments.number(4, 3'600);
  } else {
    return false;
  }
  return true;
}

void DatabaseOptions::check() const {
  if (idle_transaction > 0 && !postgres)
    throw std::runtime_error("--idle-transaction is for --engine postgres");
}

std::string DatabaseOptions::json(const std::optional<IdleTransactionEffect>& idle) const {
  std::string members =
      fmt::format(R"("engine":"{}","oldDeliveries":{})", postgres ? "postgres" : "sqlite", old_deliveries);
  if (idle)
    members += fmt::format(R"(,"idleTransactionSeconds":{},"idleTransactionRatio":{:.3f})", idle_transaction,
                           idle->ratio());
  return members;
}

std::string IdleTransactionEffect::text() const {
  return fmt::format("with an idle transaction {:.0f}/s at its end, {:.0f}/s before it, ratio {:.3f}",
                     at_the_end, before, ratio());
}

BenchDatabase::BenchDatabase(const DatabaseOptions& options) : options_(options) {
  if (options.postgres) server_.emplace(storage::testing::TemporaryPostgres::Kind::sized);
}

std::unique_ptr<storage::Database> BenchDatabase::open(const Clock& clock, int checkpoint_pages) const {
  auto database =
      server_ ? opened(storage::open_postgres({.url = url(), .writers = options_.writers}))
              : opened(storage::open_sqlite(
                    {.path = directory_.file(kFile), .checkpoint_pages = checkpoint_pages, .lock_file = {}},
                    clock));
  if (!storage::migrate(*database)) throw std::runtime_error("the database does not open");
  return database;
}

void BenchDatabase::fill(const Clock& clock) const {
  if (options_.old_deliveries == 0) return;
  const pid_t child = fork();
  if (child == 0) {
    try {
      insert_old(clock);
      _exit(0);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "filling: %s\n", e.what());
      _exit(1);
    }
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error("the database could not be filled");
}

void BenchDatabase::insert_old(const Clock& clock) const {
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto database =
        server_ ? opened(storage::open_postgres(
                      {.url = url(), .writers = 1, .statement_timeout = kLong, .idle_timeout = kLong}))
                : opened(storage::open_sqlite({.path = directory_.file(kFile),
                                               .checkpoint_pages = 100'000,
                                               .cache_mib = 1'024,
                                               .lock_file = {}},
                                              clock));
    storage::testing::insert_old_deliveries(*database, options_.old_deliveries, clock.now());
  }
  std::string size;
  if (server_) {
    // What autovacuum would have done meanwhile, and would do during the measurement. SQLite's file has no
    // statistics in service either.
    server_->run("VACUUM (ANALYZE)", kLong);
    server_->run("CHECKPOINT", kLong);
    size = server_->run("SELECT CAST(pg_database_size(current_database()) AS TEXT)");
  } else {
    size = std::to_string(std::filesystem::file_size(directory_.file(kFile)));
  }
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fprintf(stderr, "%d old deliveries were inserted in %.0f s and take %.2f GB\n",
               options_.old_deliveries, seconds, std::stod(size) / 1e9);
}

IdleTransaction::IdleTransaction(const BenchDatabase& database)
    : connection_(opened(storage::open_postgres(
          {.url = database.url(), .writers = 1, .readers = 1, .idle_timeout = kLong}))) {
  std::promise<void> began;
  auto has_begun = began.get_future();
  thread_ = std::thread([this, began = std::move(began), end = ended_.get_future()]() mutable {
    try {
      connection_->read([&](storage::Tx& tx) {
        tx.query(kRead, [](const storage::Row&) {});
        began.set_value();
        end.wait();
      });
    } catch (const std::exception& e) {
      std::fprintf(stderr, "the idle transaction ended: %s\n", e.what());
      std::_Exit(1);
    }
  });
  has_begun.wait();
}

IdleTransaction::~IdleTransaction() {
  ended_.set_value();
  thread_.join();
}

IdleTransactionEffect measure_idle_transaction(const DatabaseOptions& options, const BenchDatabase& database,
                                               const std::function<double(int seconds)>& rate) {
  const int part = options.idle_transaction / 4;
  IdleTransactionEffect effect;
  rate(options.idle_transaction - part);
  effect.before = rate(part);
  const IdleTransaction idle(database);
  rate(options.idle_transaction - part);
  effect.at_the_end = rate(part);
  return effect;
}

}  // namespace presetbridge::bench
