// A fixture with one table on each engine, a database that fails in a way of its own, and a gate that lets units wait
// together.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "storage/commit/async_database.h"
#include "storage/testing.h"

namespace presetbridge::storage::testing {

inline constexpr Sql kInsert{"INSERT INTO t(id, parent) VALUES($1, $2)"};
inline constexpr Sql kAllIds{"SELECT id FROM t ORDER BY id"};

class Lines final : public Log {
 public:
  void write(Severity, std::string_view message, std::span<const LogField> fields) noexcept override {
    const std::lock_guard lock(mutex_);
    std::string line(message);
    for (const LogField& field : fields) {
      if (const auto* text = std::get_if<std::string_view>(&field.value)) line += " " + std::string(*text);
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;

 private:
  std::mutex mutex_;
};

// Commits at once, and syncs when it is let.
class SlowDisk final : public Database {
 public:
  explicit SlowDisk(Database& real) : real_(real) {}
  Durability commit(const TxFn& fn) override {
    real_.commit(fn);
    return Durability::on_its_way;
  }
  void sync() override {
    syncing.release();
    let.acquire();
    if (broken) throw DbError(DbError::Kind::unavailable, "the disk is gone");
  }
  void read(const TxFn& fn) override { real_.read(fn); }
  std::string_view engine() const override { return real_.engine(); }
  std::counting_semaphore<> syncing{0};
  std::counting_semaphore<> let{0};
  std::atomic<bool> broken = false;

 private:
  Database& real_;
};

class AsyncDatabaseTest : public ::testing::TestWithParam<Engine> {
 protected:
  AsyncDatabaseTest() {
    database_->write([](Tx& tx) {
      tx.exec_script(
          "CREATE TABLE t(id <int> NOT NULL PRIMARY KEY, "
          "parent <int> REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED) <table>;");
    });
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> found;
    database_->read(
        [&](Tx& tx) { tx.query(kAllIds, [&](const Row& row) { found.push_back(row.int64(0)); }); });
    return found;
  }

  // Occupies the writer until open() is called, so that what is submitted in between waits together.
  class Gate {
   public:
    explicit Gate(AsyncDatabase& async_db) {
      async_db.submit([this](Tx&) { entered_.count_down(), opened_.wait(); },
                      [](const std::exception_ptr&, Completions&) {});
      entered_.wait();
    }
    void open() { opened_.count_down(); }

   private:
    std::latch entered_{1};
    std::latch opened_{1};
  };

  // Starts a write; its outcome arrives in results_[i].
  template <class Fn>
  void start(AsyncDatabase& async_db, Executor& executor, std::size_t i, Fn fn) {
    if (results_.size() <= i) results_.resize(i + 1);
    spawn(async_db.write(executor, std::move(fn)), [this, i](auto outcome) {
      results_[i] = std::move(*outcome.value);
      ++finished_;
    });
  }
  auto finished(std::size_t count) {
    return [this, count] { return finished_ == count; };
  }

  TemporaryDatabase database_{GetParam()};
  Lines log_;
  Mailbox mailbox_;
  std::vector<Expected<std::int64_t>> results_;
  std::size_t finished_ = 0;
};

inline std::int64_t add(Tx& tx, std::int64_t id) {
  tx.exec(kInsert, id, nullptr);
  return id;
}

}  // namespace presetbridge::storage::testing
