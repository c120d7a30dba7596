#include "storage/commit/async_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Sql insert{"INSERT INTO t(id, parent) VALUES($1, $2)"};
constexpr Sql all_ids{"SELECT id FROM t ORDER BY id"};

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

// Refuses each transaction as long as it is `away`.
class UnavailableDatabase final : public Database {
 public:
  explicit UnavailableDatabase(Database& real) : real_(real) {}
  Durability commit(const TxFn& fn) override {
    ++writes;
    if (away) throw DbError(DbError::Kind::unavailable, "the server is away");
    return real_.commit(fn);
  }
  void sync() override { real_.sync(); }
  void read(const TxFn& fn) override { real_.read(fn); }
  std::string_view engine() const override { return real_.engine(); }
  std::atomic<bool> away = true;
  std::atomic<int> writes = 0;

 private:
  Database& real_;
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

// A disk on which there is room for little.
class FullDisk final : public Database {
 public:
  explicit FullDisk(Database& real) : real_(real) {}
  Durability commit(const TxFn& fn) override {
    ++async_db;
    return real_.commit([&](Tx& tx) {
      large_ = false;
      fn(tx);
      if (full && large_) throw DbError(DbError::Kind::unavailable, "the disk is full");
    });
  }
  void sync() override { real_.sync(); }
  void read(const TxFn& fn) override { real_.read(fn); }
  std::string_view engine() const override { return real_.engine(); }
  // A unit, or a probe, that writes as much as an order does.
  TxFn large() {
    return [this](Tx&) { large_ = true; };
  }
  std::atomic<bool> full = true;
  std::atomic<int> async_db = 0;

 private:
  Database& real_;
  bool large_ = false;  // one transaction runs at a time in these tests
};

class AsyncDatabaseTest : public ::testing::TestWithParam<testing::Engine> {
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
        [&](Tx& tx) { tx.query(all_ids, [&](const Row& row) { found.push_back(row.int64(0)); }); });
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

  testing::TemporaryDatabase database_{GetParam()};
  Lines log_;
  testing::Mailbox mailbox_;
  std::vector<Expected<std::int64_t>> results_;
  std::size_t finished_ = 0;
};

std::int64_t add(Tx& tx, std::int64_t id) {
  tx.exec(insert, id, nullptr);
  return id;
}

INSTANTIATE_TEST_SUITE_P(Engines, AsyncDatabaseTest, ::testing::ValuesIn(testing::engines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(AsyncDatabaseTest, UnitsThatWaitTogetherShareOneCommitAndOnePostAnExecutor) {
  AsyncDatabase async_db(*database_, log_);
  testing::Mailbox other;
  Gate gate(async_db);
  for (std::size_t i = 0; i < 100; ++i) {
    start(async_db, i % 2 == 0 ? mailbox_ : other, i,
          [i](Tx& tx) { return add(tx, static_cast<std::int64_t>(i)); });
  }
  EXPECT_EQ(async_db.stats().queued_writes, 100U);
  gate.open();
  mailbox_.run_until(finished(50));
  other.run_until(finished(100));
  EXPECT_EQ(mailbox_.posts(), 1U);
  EXPECT_EQ(other.posts(), 1U);
  EXPECT_EQ(async_db.stats().commits, 2U);
  EXPECT_EQ(async_db.stats().units, 101U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(results_[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(ids().size(), 100U);
  EXPECT_THAT(log_.lines, IsEmpty());
}

TEST_P(AsyncDatabaseTest, ASuccessIsOnDiskWhileTheNextTransactionRuns) {
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_);
  std::latch second_committed{1};
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  disk.syncing.acquire();
  start(async_db, mailbox_, 1, [](Tx& tx) { return add(tx, 1); });
  async_db.submit([&](Tx&) { second_committed.count_down(); },
                  [](const std::exception_ptr&, Completions&) {});
  second_committed.wait();
  EXPECT_EQ(mailbox_.posts(), 0U) << "nothing is on disk";
  disk.let.release();
  mailbox_.run_until(finished(1));
  disk.syncing.acquire();
  EXPECT_EQ(finished_, 1U) << "the second commit came after the first sync had begun";
  disk.let.release(2);
  mailbox_.run_until(finished(2));
  EXPECT_EQ(results_[0], 0);
  EXPECT_EQ(results_[1], 1);
}

// While the disk is busy with the first commit: starts so many units, each when the one before it has run.
using Ran = std::counting_semaphore<>;  // a unit may run again
template <class Start>
void one_by_one(std::size_t units, Ran& ran, const Start& start_unit) {
  for (std::size_t i = 1; i <= units; ++i) {
    start_unit(i);
    ran.acquire();
  }
}

TEST_P(AsyncDatabaseTest, WhatComesWhileTheDiskIsBusyIsOneTransaction) {
  Ran ran{0};
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_);
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  disk.syncing.acquire();
  one_by_one(5, ran, [&](std::size_t i) {
    start(async_db, mailbox_, i, [i, &ran](Tx& tx) {
      add(tx, static_cast<std::int64_t>(i));
      ran.release();
      return static_cast<std::int64_t>(i);
    });
  });
  EXPECT_THAT(ids(), ElementsAre(0)) << "it is open";
  disk.let.release(2);
  mailbox_.run_until(finished(6));
  EXPECT_EQ(async_db.stats().commits, 2U);
  EXPECT_THAT(ids(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_P(AsyncDatabaseTest, AFullTransactionDoesNotWaitForTheDisk) {
  Ran ran{0};
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_, {.max_units = 2});
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  disk.syncing.acquire();
  one_by_one(3, ran, [&](std::size_t i) {
    start(async_db, mailbox_, i, [i, &ran](Tx& tx) {
      add(tx, static_cast<std::int64_t>(i));
      ran.release();
      return static_cast<std::int64_t>(i);
    });
  });
  EXPECT_THAT(ids(), ElementsAre(0, 1, 2)) << "the third began after they were committed";
  disk.let.release(3);
  mailbox_.run_until(finished(4));
  EXPECT_EQ(async_db.stats().commits, 3U);
}

TEST_P(AsyncDatabaseTest, AUnitAtFaultThatCameWhileTheDiskWasBusyFailsAlone) {
  Ran ran{0};
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_);
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  disk.syncing.acquire();
  one_by_one(4, ran, [&](std::size_t i) {
    start(async_db, mailbox_, i, [i, &ran](Tx& tx) {
      ran.release();
      if (i == 3) throw std::runtime_error("poison");
      return add(tx, static_cast<std::int64_t>(i));
    });
  });
  disk.let.release(10);
  mailbox_.run_until(finished(5));
  EXPECT_FALSE(results_[3]);
  EXPECT_THAT(ids(), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("poison")));
}

TEST_P(AsyncDatabaseTest, AShutdownDoesNotWaitForMoreWhileTheDiskIsBusy) {
  Ran ran{0};
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_);
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  disk.syncing.acquire();
  one_by_one(1, ran, [&](std::size_t i) {
    start(async_db, mailbox_, i, [&ran](Tx& tx) {
      ran.release();
      return add(tx, 1);
    });
  });
  std::thread stopping([&] { async_db.shutdown(); });
  while (ids().size() < 2) std::this_thread::yield();  // committed, though nothing is synced
  disk.let.release(2);
  stopping.join();
  mailbox_.run_until(finished(2));
  EXPECT_EQ(results_[1], 1);
}

TEST_P(AsyncDatabaseTest, AFailedSyncFailsAllThatWaitedForIt) {
  SlowDisk disk(*database_);
  disk.broken = true;
  disk.let.release(2);
  AsyncDatabase async_db(disk, log_);
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  start(async_db, mailbox_, 1, [](Tx& tx) { return add(tx, 1); });
  mailbox_.run_until(finished(2));
  EXPECT_EQ(results_[0].error().code, "STORAGE_UNAVAILABLE");
  EXPECT_EQ(results_[1].error().code, "STORAGE_UNAVAILABLE");
  EXPECT_EQ(async_db.stats().failed, 2U);
}

TEST_P(AsyncDatabaseTest, SeveralWritersLoseNothing) {
  static constexpr Sql add_one{"UPDATE t SET parent = parent + 1 WHERE id = -1"};
  static constexpr Sql total{"SELECT parent FROM t WHERE id = -1"};
  database_->write([](Tx& tx) {
    tx.exec_script("DROP TABLE t; CREATE TABLE t(id <int> NOT NULL PRIMARY KEY, parent <int>) <table>;");
    tx.exec(insert, -1, 0);
  });
  AsyncDatabase async_db(*database_, log_, {.writers = 4, .max_units = 8});
  for (std::size_t i = 0; i < 200; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) {
      tx.exec(add_one);
      return add(tx, static_cast<std::int64_t>(i));
    });
  }
  mailbox_.run_until(finished(200));
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(results_[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(ids().size(), 201U);
  database_->read([&](Tx& tx) {
    EXPECT_EQ(tx.one(total, [](const Row& row) { return row.int64(0); }), std::optional<std::int64_t>(200));
  });
  EXPECT_EQ(async_db.stats().units, 200U);
}

TEST_P(AsyncDatabaseTest, ATransactionHoldsNoMoreUnitsThanItsCap) {
  AsyncDatabase async_db(*database_, log_, {.max_units = 10});
  Gate gate(async_db);
  for (std::size_t i = 0; i < 35; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) { return add(tx, static_cast<std::int64_t>(i)); });
  }
  gate.open();
  mailbox_.run_until(finished(35));
  EXPECT_EQ(async_db.stats().commits, 1U + 4U);
}

TEST_P(AsyncDatabaseTest, FirstReadsAndOthersTakeTurns) {
  AsyncDatabase async_db(*database_, log_, {.readers = 1, .max_queue = 3});
  std::latch entered{1};
  std::latch opened{1};
  const auto done = [](const std::exception_ptr&, Completions&) {};
  async_db.submit_first_read([&](Tx&) { entered.count_down(), opened.wait(); }, done);
  entered.wait();
  std::vector<int> order;  // of the one reader
  std::size_t ended = 0;
  for (int i = 0; i < 3; ++i)
    spawn(async_db.read(mailbox_, [&order, i](Tx&) { order.push_back(i); }), [&](auto) { ++ended; });
  for (int i = 10; i < 12; ++i) async_db.submit_first_read([&order, i](Tx&) { order.push_back(i); }, done);
  opened.count_down();
  mailbox_.run_until([&] { return ended == 3; });
  async_db.shutdown();
  EXPECT_EQ(order, (std::vector{0, 10, 1, 11, 2}));
}

TEST_P(AsyncDatabaseTest, OnlyTheUnitAtFaultFails) {
  AsyncDatabase async_db(*database_, log_);
  Gate gate(async_db);
  for (std::size_t i = 0; i < 30; ++i) {
    const auto id = static_cast<std::int64_t>(i);
    if (i == 7) {
      start(async_db, mailbox_, i,
            [id](Tx& tx) -> std::int64_t { add(tx, id), throw std::runtime_error("poison"); });
    } else if (i == 13) {
      start(async_db, mailbox_, i,
            [id](Tx& tx) -> std::int64_t { add(tx, id), throw Error{"MINE", "Refused.", {}}; });
    } else if (i == 20) {
      start(async_db, mailbox_, i, [](Tx& tx) { return add(tx, 0); });  // there already
    } else if (i == 29) {
      start(async_db, mailbox_, i, [id](Tx& tx) { return tx.exec(insert, id, 999); });  // fails at the commit
    } else {
      start(async_db, mailbox_, i, [id](Tx& tx) { return add(tx, id); });
    }
  }
  gate.open();
  mailbox_.run_until(finished(30));
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < 30; ++i) {
    if (i == 7 || i == 20 || i == 29) {
      ASSERT_FALSE(results_[i]) << i;
      EXPECT_EQ(results_[i].error().code, "INTERNAL_ERROR");
      EXPECT_THAT(results_[i].error().message, Not(HasSubstr("SQL")));
    } else if (i == 13) {
      EXPECT_EQ(results_[i], std::unexpected(Error{"MINE", "Refused.", {}}));
    } else {
      EXPECT_EQ(results_[i], static_cast<std::int64_t>(i));
      expected.push_back(static_cast<std::int64_t>(i));
    }
  }
  EXPECT_EQ(ids(), expected);
  EXPECT_EQ(async_db.stats().failed, 4U);
  ASSERT_EQ(log_.lines.size(), 3U) << "an Error is an answer, not a fault";
  EXPECT_THAT(log_.lines, Contains(HasSubstr("poison")));
  EXPECT_THAT(log_.lines, Contains(AnyOf(HasSubstr("UNIQUE"), HasSubstr("unique constraint"))));
  EXPECT_THAT(log_.lines, Contains(AnyOf(HasSubstr("FOREIGN KEY"), HasSubstr("foreign key constraint"))));
}

TEST_P(AsyncDatabaseTest, AUnitThatWaitsForALockInVainFailsAloneAndIsNotWaitedForAgain) {
  AsyncDatabase async_db(*database_, log_);
  Gate gate(async_db);
  int waited = 0;
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 0); });
  start(async_db, mailbox_, 1, [&waited](Tx& tx) -> std::int64_t {
    ++waited;
    add(tx, 1);
    throw DbError(DbError::Kind::busy, "a lock timeout");
  });
  start(async_db, mailbox_, 2, [](Tx& tx) { return add(tx, 2); });
  gate.open();
  mailbox_.run_until(finished(3));
  EXPECT_EQ(results_[1].error().code, "OVERLOADED");
  EXPECT_EQ(waited, 1);
  EXPECT_EQ(ids(), (std::vector<std::int64_t>{0, 2}));
}

TEST_P(AsyncDatabaseTest, TheResultIsThatOfTheRunThatWasCommitted) {
  AsyncDatabase async_db(*database_, log_);
  Gate gate(async_db);
  std::atomic<int> runs = 0;
  start(async_db, mailbox_, 0, [&](Tx&) -> std::int64_t { return ++runs; });
  start(async_db, mailbox_, 1, [&](Tx&) -> std::int64_t { throw std::runtime_error("poison"); });
  gate.open();
  mailbox_.run_until(finished(2));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(results_[0], 2);
}

TEST_P(AsyncDatabaseTest, AnUnavailableDatabaseFailsAllAtOnceWithoutBlame) {
  UnavailableDatabase away(*database_);
  AsyncDatabase async_db(away, log_, {.inline_execution = true});
  async_db.submit([](Tx&) {},
                  [&](const std::exception_ptr&, Completions&) {
                    // Called within the loop that runs units: these three wait together.
                    for (std::size_t i = 0; i < 3; ++i)
                      start(async_db, mailbox_, i, [](Tx& tx) { return add(tx, 1); });
                  });
  mailbox_.run_until(finished(3));
  for (const auto& result : results_) EXPECT_EQ(result.error().code, "STORAGE_UNAVAILABLE");
  EXPECT_EQ(away.writes, 2);
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("the storage is in trouble writes")));
}

TEST_P(AsyncDatabaseTest, AnUnavailableDatabaseIsLoggedOnceAndItsReturnOnce) {
  UnavailableDatabase away(*database_);
  AsyncDatabase async_db(away, log_, {.inline_execution = true});
  int failed = 0;
  const auto count = [&](const std::exception_ptr& thrown, Completions&) { failed += thrown ? 1 : 0; };
  for (int i = 0; i < 100; ++i) async_db.submit([](Tx&) {}, count);
  EXPECT_EQ(failed, 100);
  EXPECT_EQ(log_.lines.size(), 1U);
  async_db.submit_first_read([](Tx&) {}, count);
  EXPECT_EQ(log_.lines.size(), 1U) << "what reads is another matter";
  away.away = false;
  for (int i = 0; i < 10; ++i) async_db.submit([](Tx&) {}, count);
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("the storage is in trouble writes the server is away"),
                                      HasSubstr("the storage works again writes")));
}

TEST_P(AsyncDatabaseTest, TroubleIsOverOnlyOnceAWriteAsLargeAsAnOrdersHasGoneWell) {
  using std::chrono::seconds;
  FullDisk disk(*database_);
  AsyncDatabase async_db(disk, log_,
                         {.inline_execution = true, .clock = &database_.clock, .probe = disk.large()});
  int failed = 0;
  const auto count = [&](const std::exception_ptr& thrown, Completions&) { failed += thrown ? 1 : 0; };
  const auto small = [](Tx&) {};
  async_db.submit(small, count);
  EXPECT_EQ(disk.async_db, 1) << "nothing is tried while all is well";
  async_db.submit(disk.large(), count);
  EXPECT_EQ(failed, 1);
  for (int i = 0; i < 5; ++i) {
    database_.clock.advance(seconds{11});
    async_db.submit(small, count);
    EXPECT_TRUE(async_db.writes_in_trouble()) << "small writes go well on a full disk";
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(disk.async_db, 2 + 5 * 2);
  disk.full = false;
  database_.clock.advance(seconds{9});
  async_db.submit(small, count);
  EXPECT_TRUE(async_db.writes_in_trouble()) << "the probe failed nine seconds ago";
  database_.clock.advance(seconds{1});
  async_db.submit(small, count);
  EXPECT_FALSE(async_db.writes_in_trouble());
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("the storage is in trouble writes"),
                                      HasSubstr("the storage works again writes")));
}

TEST_P(AsyncDatabaseTest, AnIdleWriterFindsOutByItselfThatTroubleIsOver) {
  FullDisk disk(*database_);
  AsyncDatabase async_db(disk, log_, {.clock = &database_.clock, .probe = disk.large()});
  std::latch failed{1};
  async_db.submit(disk.large(), [&](const std::exception_ptr&, Completions&) { failed.count_down(); });
  failed.wait();
  EXPECT_TRUE(async_db.writes_in_trouble());
  disk.full = false;
  database_.clock.advance(TroubleLog::kCalm);
  while (async_db.writes_in_trouble()) std::this_thread::yield();
  EXPECT_EQ(disk.async_db, 2);
  EXPECT_EQ(async_db.stats().failed, 1U);
}

TEST_P(AsyncDatabaseTest, AProbeThatIsWrongItselfLeavesNobodyWaiting) {
  FullDisk disk(*database_);
  AsyncDatabase async_db(disk, log_, {.inline_execution = true, .clock = &database_.clock, .probe = [](Tx&) {
                                        throw std::runtime_error("no such table");
                                      }});
  async_db.submit(disk.large(), [](const std::exception_ptr&, Completions&) {});
  database_.clock.advance(TroubleLog::kCalm);
  async_db.submit([](Tx&) {}, [](const std::exception_ptr&, Completions&) {});
  EXPECT_FALSE(async_db.writes_in_trouble());
  EXPECT_THAT(log_.lines, Contains(HasSubstr("no such table")));
}

// The news that is reported.
struct Reported {
  std::function<void(const News&)> sink() {
    return [this](const News& news) {
      const std::lock_guard lock(mutex);
      for (const auto& one : news.platform) accounts.push_back(one.cloud_account.value);
    };
  }
  std::vector<std::int64_t> all() {
    const std::lock_guard lock(mutex);
    return accounts;
  }
  std::mutex mutex;
  std::vector<std::int64_t> accounts;
};

std::int64_t add_with_news(Tx& tx, std::int64_t id) {
  tx.news().platform.push_back({CloudAccountId{id}, "outage"});
  return add(tx, id);
}

TEST_P(AsyncDatabaseTest, NewsIsReportedOfTheRunThatStandsOnceItIsOnDisk) {
  Reported reported;
  AsyncDatabase async_db(*database_, log_, {.on_news = reported.sink()});
  Gate gate(async_db);
  for (std::size_t i = 0; i < 10; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) {
      const auto id = add_with_news(tx, static_cast<std::int64_t>(i));
      if (i == 4) throw std::runtime_error("poison");
      return id;
    });
  }
  gate.open();
  mailbox_.run_until(finished(10));
  async_db.shutdown();
  EXPECT_THAT(reported.all(), ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9));
}

TEST_P(AsyncDatabaseTest, NewsThatIsNotOnDiskIsNotReported) {
  Reported reported;
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_, {.on_news = reported.sink()});
  start(async_db, mailbox_, 0, [](Tx& tx) { return add_with_news(tx, 0); });
  disk.syncing.acquire();
  EXPECT_THAT(reported.all(), IsEmpty()) << "it is committed, and not on disk";
  disk.let.release();
  mailbox_.run_until(finished(1));
  disk.broken = true;
  disk.let.release();
  start(async_db, mailbox_, 1, [](Tx& tx) { return add_with_news(tx, 1); });
  mailbox_.run_until(finished(2));
  async_db.shutdown();
  EXPECT_THAT(reported.all(), ElementsAre(0));
}

TEST_P(AsyncDatabaseTest, AFullQueueRefusesAtOnce) {
  AsyncDatabase async_db(*database_, log_, {.max_queue = 3});
  Gate gate(async_db);
  for (std::size_t i = 0; i < 5; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) { return add(tx, static_cast<std::int64_t>(i)); });
  }
  mailbox_.run_until(finished(2));  // while the writer is held
  EXPECT_EQ(results_[3].error().code, "OVERLOADED");
  EXPECT_EQ(results_[4].error().code, "OVERLOADED");
  gate.open();
  mailbox_.run_until(finished(5));
  EXPECT_THAT(ids(), ElementsAre(0, 1, 2));
  EXPECT_THAT(log_.lines, IsEmpty());
}

TEST_P(AsyncDatabaseTest, ShutdownRunsWhatWaitsAndRefusesWhatComesAfter) {
  AsyncDatabase async_db(*database_, log_);
  Gate gate(async_db);
  for (std::size_t i = 0; i < 50; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) { return add(tx, static_cast<std::int64_t>(i)); });
  }
  gate.open();
  async_db.shutdown();
  async_db.shutdown();
  EXPECT_EQ(ids().size(), 50U);
  start(async_db, mailbox_, 50, [](Tx& tx) { return add(tx, 50); });
  mailbox_.run_until(finished(51));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_TRUE(results_[i]);
  EXPECT_EQ(results_[50].error().code, "OVERLOADED");
}

TEST_P(AsyncDatabaseTest, AReadSeesWhatWasCommittedAndCannotWrite) {
  AsyncDatabase async_db(*database_, log_);
  start(async_db, mailbox_, 0, [](Tx& tx) { return add(tx, 5); });
  mailbox_.run_until(finished(1));
  std::optional<Expected<std::int64_t>> read;
  std::optional<Expected<void>> wrote;
  spawn(async_db.read(mailbox_,
                      [](Tx& tx) { return *tx.one(all_ids, [](const Row& row) { return row.int64(0); }); }),
        [&](auto outcome) { read = *outcome.value; });
  mailbox_.run_until([&] { return read.has_value(); });
  EXPECT_EQ(*read, 5);
  spawn(async_db.read(mailbox_, [](Tx& tx) { add(tx, 6); }), [&](auto outcome) { wrote = *outcome.value; });
  mailbox_.run_until([&] { return wrote.has_value(); });
  EXPECT_EQ(wrote->error().code, "INTERNAL_ERROR");
  EXPECT_THAT(ids(), ElementsAre(5));
}

TEST_P(AsyncDatabaseTest, AReturnedErrorDoesNotRollBackAndAThrownOneDoes) {
  AsyncDatabase async_db(*database_, log_);
  std::optional<Expected<int>> returned;
  spawn(async_db.write(mailbox_,
                       [](Tx& tx) -> Expected<int> {
                         add(tx, 1);
                         return fail("STANDS", "It stands.");
                       }),
        [&](auto outcome) { returned = *outcome.value; });
  mailbox_.run_until([&] { return returned.has_value(); });
  EXPECT_EQ(returned->error().code, "STANDS");
  start(async_db, mailbox_, 0,
        [](Tx& tx) -> std::int64_t { add(tx, 2), throw Error{"GONE", "It is gone.", {}}; });
  mailbox_.run_until(finished(1));
  EXPECT_EQ(results_[0].error().code, "GONE");
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_P(AsyncDatabaseTest, InlineExecutionNeedsNoThreadAndNoWaiting) {
  presetbridge::testing::VirtualScheduler scheduler(database_.clock);
  AsyncDatabase async_db(*database_, log_, {.inline_execution = true});
  start(async_db, scheduler, 0, [](Tx& tx) { return add(tx, 1); });
  EXPECT_THAT(ids(), ElementsAre(1));
  EXPECT_EQ(finished_, 0U) << "it resumes as a callback of its executor";
  scheduler.run();
  EXPECT_EQ(results_[0], 1);
}

TEST_P(AsyncDatabaseTest, ManyThreadsEachGetTheirOwnAnswer) {
  AsyncDatabase async_db(*database_, log_);
  constexpr int threads = 4;
  constexpr int each = 200;
  std::atomic<int> right = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      testing::Mailbox mailbox;
      int done = 0;
      for (int i = 0; i < each; ++i) {
        const std::int64_t id = t * each + i;
        spawn(async_db.write(mailbox,
                             [id, i](Tx& tx) {
                               if (i % 50 == 49) throw std::runtime_error("poison");
                               return add(tx, id);
                             }),
              [&, id, i](auto outcome) {
                ++done;
                const Expected<std::int64_t>& result = *outcome.value;
                if (i % 50 == 49 ? !result : result == id) ++right;
              });
      }
      mailbox.run_until([&] { return done == each; });
    });
  }
  for (auto& thread : all) thread.join();
  EXPECT_EQ(right, threads * each);
  EXPECT_EQ(ids().size(), static_cast<std::size_t>(threads * (each - each / 50)));
}

}  // namespace
}  // namespace presetbridge::storage
