#include "storage/commit/async_database.h"

#include <gmock/gmock.h>

#include <thread>

#include "storage/commit/async_database_testing.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using testing::add;
using ::testing::AnyOf;
using testing::AsyncDatabaseTest;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kAllIds;
using testing::kInsert;

INSTANTIATE_TEST_SUITE_P(Engines, AsyncDatabaseTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(AsyncDatabaseTest, UnitsThatWaitTogetherShareOneCommitAndOnePostAnExecutor) {
  AsyncDatabase async_db(*database_, log_);
  testing::Mailbox other;
  Gate gate(async_db);
  for (std::size_t i = 0; i < 100; ++i) {
    start(async_db, i % 2 == 0 ? mailbox_ : other, i,
          [i](Tx& tx) { return add(tx, static_cast<std::int64_t>(i)); });
  }
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

TEST_P(AsyncDatabaseTest, SeveralWritersLoseNothing) {
  static constexpr Sql add_one{"UPDATE t SET parent = parent + 1 WHERE id = -1"};
  static constexpr Sql total{"SELECT parent FROM t WHERE id = -1"};
  database_->write([](Tx& tx) {
    tx.exec_script("DROP TABLE t; CREATE TABLE t(id <int> NOT NULL PRIMARY KEY, parent <int>) <table>;");
    tx.exec(kInsert, -1, 0);
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
      start(async_db, mailbox_, i,
            [id](Tx& tx) { return tx.exec(kInsert, id, 999); });  // fails at the commit
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
                      [](Tx& tx) { return *tx.one(kAllIds, [](const Row& row) { return row.int64(0); }); }),
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
