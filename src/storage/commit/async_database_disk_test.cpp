// Commits and their syncs: units that come while the disk is busy, and a disk that fails.
#include <gmock/gmock.h>

#include <thread>

#include "storage/commit/async_database_testing.h"

namespace presetbridge::storage {
namespace {

using testing::add;
using testing::AsyncDatabaseTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SlowDisk;

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

}  // namespace
}  // namespace presetbridge::storage
