// For tests of code that uses storage: a real database of either engine, empty or with the current schema,
// which is deleted with its object; and an executor to which storage threads post callbacks, and which the
// test's thread runs.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/testing.h"
#include "storage/postgres/postgres_database.h"
#include "storage/sqlite/sqlite_database.h"
#include "storage/testing/migrated.h"
#include "storage/testing/temporary_postgres.h"

namespace presetbridge::storage::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "presetbridge-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

enum class Engine { sqlite, postgres };

// For tests that run on each engine:
//
//   class MyTest : public ::testing::TestWithParam<testing::Engine> {
//     testing::TemporaryDatabase db_{GetParam()};
//   INSTANTIATE_TEST_SUITE_P(Engines, MyTest, ::testing::ValuesIn(testing::kEngines), testing::engine_name);
inline constexpr std::array kEngines{Engine::sqlite, Engine::postgres};
inline std::string engine_name(const auto& info) {
  return info.param == Engine::sqlite ? "Sqlite" : "Postgres";
}

// PostgreSQL's options for tests. Their timeouts are so long that no test fails on a busy machine.
inline PostgresOptions patient(std::string url) {
  constexpr Millis minute{60'000};
  return {.url = std::move(url),
          .connect_timeout = minute,
          .statement_timeout = minute,
          .lock_timeout = minute,
          .idle_timeout = minute,
          .checkout_timeout = minute};
}

// Puts a test's decorator around a database.
using WrapDatabase = std::function<std::unique_ptr<Database>(std::unique_ptr<Database>)>;

// An empty database, which reads the time from `clock` on both engines.
class TemporaryDatabase {
 public:
  explicit TemporaryDatabase(Engine engine, TemporaryPostgres::Kind kind = TemporaryPostgres::Kind::real)
      : kind_(kind) {
    if (engine == Engine::sqlite) {
      directory_.emplace();
    } else {
      server_ = std::make_unique<TemporaryPostgres>(kind);
    }
    open();
  }
  Database& operator*() { return *database_; }
  Database* operator->() { return database_.get(); }
  // Closes the database and opens it again. Throws for one of PostgreSQL that came with a schema.
  void reopen() {
    if (!directory_ && !server_) throw std::logic_error("a lent database stays open");
    database_.reset();
    open();
  }
  // The file of the SQLite database. There is none with PostgreSQL.
  std::string path() const { return directory_->file("test.db"); }

  presetbridge::testing::ManualClock clock;

 protected:
  struct Migrated {};
  TemporaryDatabase(Migrated, Engine engine, TemporaryPostgres::Kind kind, WrapDatabase wrap)
      : kind_(kind), wrap_(std::move(wrap)) {
    if (engine == Engine::sqlite) {
      directory_.emplace();
      copy_migrated_sqlite(path());
      open();
    } else {
      use(take_migrated_postgres(kind, clock));
    }
  }

 private:
  void open() {
    SqliteOptions options{.path = directory_ ? path() : std::string(), .lock_file = {}};
    if (kind_ == TemporaryPostgres::Kind::quick) options.sync_file = [](int) { return 0; };
    auto opened = directory_ ? open_sqlite(options, clock) : open_postgres(patient(server_->url()), &clock);
    if (!opened) throw std::runtime_error(opened.error().message);
    use(std::move(*opened));
  }
  void use(std::unique_ptr<Database> opened) {
    database_ = wrap_ ? wrap_(std::move(opened)) : std::move(opened);
  }

  const TemporaryPostgres::Kind kind_;  // quick: SQLite does not sync either
  WrapDatabase wrap_;
  std::optional<TemporaryDirectory> directory_;
  std::unique_ptr<TemporaryPostgres> server_;
  std::unique_ptr<Database> database_;
};

class TemporarySqlite : public TemporaryDatabase {
 public:
  TemporarySqlite() : TemporaryDatabase(Engine::sqlite) {}
};

// A database with the current schema.
class MigratedDatabase : public TemporaryDatabase {
 public:
  explicit MigratedDatabase(Engine engine, TemporaryPostgres::Kind kind = TemporaryPostgres::Kind::quick,
                            WrapDatabase wrap = {})
      : TemporaryDatabase(Migrated{}, engine, kind, std::move(wrap)) {}
};

// For whole suites that run once on each engine (BOTH_ENGINES in CMake): SQLite, unless the environment says
// PRESETBRIDGE_TEST_ENGINE=postgres.
class SuiteDatabase : public MigratedDatabase {
 public:
  explicit SuiteDatabase(WrapDatabase wrap = {})
      : MigratedDatabase(engine_of_suite(), TemporaryPostgres::Kind::quick, std::move(wrap)) {}

 private:
  static Engine engine_of_suite() {
    const char* const name = std::getenv("PRESETBRIDGE_TEST_ENGINE");
    if (name == nullptr || std::string_view(name) == "sqlite") return Engine::sqlite;
    if (std::string_view(name) == "postgres") return Engine::postgres;
    throw std::runtime_error("PRESETBRIDGE_TEST_ENGINE is sqlite or postgres");
  }
};

class Mailbox final : public Executor {
 public:
  void post(Callback callback) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
    ++posts_;
    filled_.notify_one();  // under the lock: the callback may destroy the mailbox
  }
  // Runs the posted callbacks, in order, on this thread until `done` returns true.
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return !posted_.empty(); });
      Callback next = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      next();
    }
  }
  // How often post() was called.
  std::size_t posts() const {
    const std::lock_guard lock(mutex_);
    return posts_;
  }

 private:
  mutable std::mutex mutex_;  // guards posted_ and posts_
  std::condition_variable filled_;
  std::deque<Callback> posted_;
  std::size_t posts_ = 0;
};

}  // namespace presetbridge::storage::testing
