// A database that is away or full: it is reported once, and so is its return (spec 12.3).
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "storage/commit/async_database_testing.h"

namespace presetbridge::storage {
namespace {

using testing::add;
using testing::AsyncDatabaseTest;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace presetbridge::storage
