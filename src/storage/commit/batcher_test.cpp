#include "storage/commit/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <latch>
#include <set>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Sql kInsert{"INSERT INTO t(id) VALUES($1)"};
constexpr Sql kAllIds{"SELECT id FROM t ORDER BY id"};

using Numbers = Batcher<std::int64_t, std::int64_t>;

class BatcherTest : public ::testing::Test {
 protected:
  BatcherTest() {
    database_->write(
        [](Tx& tx) { tx.exec_script("CREATE TABLE t(id <int> NOT NULL PRIMARY KEY) <table>;"); });
  }

  // Inserts each number and answers with ten times it; a batch with a negative one throws.
  void run(Tx& tx, std::span<const std::int64_t> ins, std::span<std::int64_t> outs) {
    ASSERT_EQ(ins.size(), outs.size());
    EXPECT_THAT(outs, Each(0));
    runs_.emplace_back(ins.begin(), ins.end());
    for (std::size_t i = 0; i < ins.size(); ++i) {
      tx.exec(kInsert, ins[i]);
      if (ins[i] < 0) throw std::runtime_error("poison");
      outs[i] = ins[i] * 10;
    }
  }
  Numbers::Run runner() {
    return [this](Tx& tx, std::span<const std::int64_t> ins, std::span<std::int64_t> outs) {
      run(tx, ins, outs);
    };
  }

  void start(Numbers& batcher, std::int64_t number) {
    const std::size_t i = results_.size();
    results_.emplace_back();
    spawn(batcher.add(mailbox_, number), [this, i](auto outcome) {
      results_[i] = std::move(*outcome.value);
      ++finished_;
    });
  }
  // Starts them so that they wait together: while a unit of `async_db`, which executes inline, is being
  // finished.
  void start_together(AsyncDatabase& async_db, Numbers& batcher, std::span<const std::int64_t> numbers) {
    async_db.submit([](Tx&) {},
                    [&](const std::exception_ptr&, Completions&) {
                      for (const std::int64_t number : numbers) start(batcher, number);
                    });
  }
  void start_together(AsyncDatabase& async_db, Numbers& batcher,
                      std::initializer_list<std::int64_t> numbers) {
    start_together(async_db, batcher, std::span(numbers.begin(), numbers.size()));
  }
  void run_all() {
    mailbox_.run_until([this] { return finished_ == results_.size(); });
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> found;
    database_->read(
        [&](Tx& tx) { tx.query(kAllIds, [&](const Row& row) { found.push_back(row.int64(0)); }); });
    return found;
  }

  static inline const AsyncDatabase::Options kInlineOptions{.inline_execution = true};
  testing::TemporarySqlite database_;
  NullLog log_;
  testing::Mailbox mailbox_;
  std::vector<std::vector<std::int64_t>> runs_;
  std::vector<Expected<std::int64_t>> results_;
  std::size_t finished_ = 0;
};

TEST_F(BatcherTest, RowsThatWaitTogetherGoInOneRunAndWakeInOnePost) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner());
  start_together(async_db, batcher, {3, 1, 2});
  run_all();
  EXPECT_THAT(runs_, ElementsAre(ElementsAre(3, 1, 2)));
  EXPECT_THAT(results_, ElementsAre(30, 10, 20));
  EXPECT_EQ(mailbox_.posts(), 1U);
  EXPECT_EQ(async_db.stats().commits, 2U);
}

TEST_F(BatcherTest, ABatchIsCappedInRows) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_rows = 2});
  start_together(async_db, batcher, {1, 2, 3, 4, 5});
  run_all();
  EXPECT_THAT(runs_, ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5)));
}

TEST_F(BatcherTest, ABatchIsCappedInBytesAndAHeavyRowGoesAlone) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_bytes = 10},
                  [](const std::int64_t& n) { return static_cast<std::size_t>(n); });
  start_together(async_db, batcher, {4, 5, 6, 50, 1, 2});
  run_all();
  EXPECT_THAT(runs_, ElementsAre(ElementsAre(4, 5), ElementsAre(6), ElementsAre(50), ElementsAre(1, 2)));
}

TEST_F(BatcherTest, APoisonedRowFailsAlone) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner());
  start_together(async_db, batcher, {1, 2, -3, 4, 5});
  run_all();
  EXPECT_THAT(ids(), ElementsAre(1, 2, 4, 5));
  ASSERT_FALSE(results_[2]);
  EXPECT_EQ(results_[2].error().code, "INTERNAL_ERROR");
  EXPECT_EQ(results_[0], 10);
  EXPECT_EQ(results_[4], 50);
}

TEST_F(BatcherTest, TheSameRowsRunAgainWhenAnotherUnitOfTheTransactionThrows) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner());
  async_db.submit([](Tx&) {},
                  [&](const std::exception_ptr&, Completions&) {
                    start(batcher, 1);
                    start(batcher, 2);
                    async_db.submit([](Tx&) { throw std::runtime_error("poison"); },
                                    [](const std::exception_ptr& e, Completions&) { EXPECT_TRUE(e); });
                  });
  run_all();
  EXPECT_THAT(runs_, ElementsAre(ElementsAre(1, 2), ElementsAre(1, 2)));
  EXPECT_THAT(results_, ElementsAre(10, 20));
  EXPECT_THAT(ids(), ElementsAre(1, 2));
}

TEST_F(BatcherTest, AFullQueueRefusesAtOnceInRowsAndInBytes) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers rows(async_db, runner(), {.max_queue = 2});
  start_together(async_db, rows, {1, 2, 3});
  run_all();
  EXPECT_EQ(results_[2].error().code, "OVERLOADED");
  Numbers bytes(async_db, runner(), {.max_queue_bytes = 100},
                [](const std::int64_t& n) { return static_cast<std::size_t>(n); });
  start_together(async_db, bytes, {500, 60, 50});
  start_together(async_db, bytes, {70});
  run_all();
  EXPECT_THAT(ids(), ElementsAre(1, 2, 70, 500));
  EXPECT_EQ(results_[4].error().code, "OVERLOADED");
  EXPECT_EQ(results_[5].error().code, "OVERLOADED");
  EXPECT_EQ(bytes.queued(), 0U);
}

// The number's hundreds are its owner.
std::uint64_t owner_of(const std::int64_t& number) {
  return static_cast<std::uint64_t>(number / 100);
}

TEST_F(BatcherTest, OwnersTakeTurnsByWeightAndEachKeepsItsOrder) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_rows = 4, .turn_bytes = 10},
                  [](const std::int64_t& number) { return number < 200 ? 5UZ : 10UZ; }, {.owner = owner_of});
  start_together(async_db, batcher, {101, 102, 103, 104, 105, 201, 202, 301});
  run_all();
  EXPECT_THAT(runs_, ElementsAre(ElementsAre(101, 102, 201, 301), ElementsAre(103, 104, 202, 105)));
}

TEST_F(BatcherTest, APostponedRowIsFirstInALaterRunAndItsOwnerPaysForItsCost) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  struct Done {
    std::int64_t number = 0;
    bool postponed = false;
  };
  std::vector<std::vector<std::int64_t>> runs;
  // A run does one row of owner 1, which costs a hundred times its weight.
  Batcher<std::int64_t, Done> batcher(
      async_db,
      [&](Tx&, std::span<const std::int64_t> ins, std::span<Done> outs) {
        runs.emplace_back(ins.begin(), ins.end());
        bool first = true;
        for (std::size_t i = 0; i < ins.size(); ++i)
          outs[i] = {ins[i], owner_of(ins[i]) == 1 && !std::exchange(first, false)};
      },
      {.max_bytes = 150, .turn_bytes = 10}, [](const std::int64_t&) { return 1UZ; },
      {.owner = owner_of,
       .cost = [](const Done& done) { return owner_of(done.number) == 1 ? 100UZ : 1UZ; },
       .postponed = [](const Done& done) { return done.postponed; }});
  std::vector<std::int64_t> answered;
  const auto start = [&](std::int64_t number) {
    spawn(batcher.add(mailbox_, number),
          [&](auto outcome) { answered.push_back(outcome.value->value().number); });
  };
  async_db.submit([](Tx&) {},
                  [&](const std::exception_ptr&, Completions&) {
                    for (const std::int64_t number : {101, 102, 103, 201}) start(number);
                  });
  mailbox_.run_until([&] { return answered.size() == 4; });
  EXPECT_THAT(runs, ElementsAre(ElementsAre(101, 102, 103, 201), ElementsAre(102), ElementsAre(103)))
      << "a row costs 100 by now, and a batch 150";
  EXPECT_THAT(answered, ElementsAre(101, 201, 102, 103));
  runs.clear();
  async_db.submit([](Tx&) {},
                  [&](const std::exception_ptr&, Completions&) {
                    for (const std::int64_t number : {104, 105, 201, 202}) start(number);
                  });
  mailbox_.run_until([&] { return answered.size() == 8; });
  EXPECT_THAT(runs, ElementsAre(ElementsAre(201, 202, 104), ElementsAre(105)));
  EXPECT_EQ(batcher.queued(), 0U);
}

TEST_F(BatcherTest, AnOwnerHasAnEighthOfTheQueueWhileOthersWaitAndNeverTheLastEighth) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_queue = 16}, {}, {.owner = owner_of});
  std::vector<std::int64_t> numbers{201, 101, 102, 103, 202, 203};
  start_together(async_db, batcher, numbers);
  run_all();
  EXPECT_THAT(ids(), ElementsAre(101, 102, 201, 202));
  EXPECT_EQ(results_[3].error().code, "OVERLOADED");
  EXPECT_EQ(results_[5].error().code, "OVERLOADED");

  numbers.clear();
  for (std::int64_t number = 301; number <= 315; ++number) numbers.push_back(number);
  numbers.insert(numbers.end(), {401, 402, 501});
  start_together(async_db, batcher, numbers);
  run_all();
  EXPECT_EQ(ids().size(), 4U + 14 + 2);
  EXPECT_EQ(results_[6 + 13], 3140);
  EXPECT_EQ(results_[6 + 14].error().code, "OVERLOADED") << "the last eighth is others'";
  EXPECT_EQ(results_[6 + 16], 4020);
  EXPECT_EQ(results_[6 + 17].error().code, "OVERLOADED") << "all are taken";
}

TEST_F(BatcherTest, TheBytesOfTheQueueAreSharedAsItsRowsAre) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_queue_bytes = 800},
                  [](const std::int64_t& number) { return static_cast<std::size_t>(number % 100); },
                  {.owner = owner_of});
  start_together(async_db, batcher, {202, 160, 150, 140, 299, 301});
  run_all();
  EXPECT_THAT(ids(), ElementsAre(140, 160, 202, 301));
  EXPECT_EQ(results_[2].error().code, "OVERLOADED") << "60 + 50 are more than an eighth";
  EXPECT_EQ(results_[4].error().code, "OVERLOADED") << "2 + 99 are more than an eighth";
}

TEST_F(BatcherTest, AnOwnersRowsThatWaitAloneMayEachBeHeavierThanItsShare) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  Numbers batcher(async_db, runner(), {.max_queue_bytes = 80},
                  [](const std::int64_t& number) { return static_cast<std::size_t>(number % 100); },
                  {.owner = owner_of});
  start_together(async_db, batcher, {120, 220, 320});
  run_all();
  EXPECT_THAT(ids(), ElementsAre(120, 220, 320));
}

TEST_F(BatcherTest, AnOutThatIsAnExpectedAnswersForItsRowAlone) {
  AsyncDatabase async_db(*database_, log_, kInlineOptions);
  using Checked = Batcher<std::int64_t, Expected<std::string>>;
  Checked batcher(async_db,
                  [](Tx&, std::span<const std::int64_t> ins, std::span<Expected<std::string>> outs) {
                    for (std::size_t i = 0; i < ins.size(); ++i) {
                      if (ins[i] % 2 == 0) {
                        outs[i] = std::to_string(ins[i]);
                      } else {
                        outs[i] = fail("ODD", "It is odd.");
                      }
                    }
                  });
  std::vector<Expected<std::string>> results;
  for (const std::int64_t number : {1, 2}) {
    spawn(batcher.add(mailbox_, number), [&](auto outcome) { results.push_back(std::move(*outcome.value)); });
  }
  mailbox_.run_until([&] { return results.size() == 2; });
  EXPECT_EQ(results[0].error().code, "ODD");
  EXPECT_EQ(results[1], "2");
}

TEST_F(BatcherTest, RowsThatWaitAtShutdownAreCommittedAndLaterOnesAreRefused) {
  AsyncDatabase async_db(*database_, log_);
  Numbers batcher(async_db, runner());
  std::latch entered{1};
  std::latch opened{1};
  async_db.submit([&](Tx&) { entered.count_down(), opened.wait(); },
                  [](const std::exception_ptr&, Completions&) {});
  entered.wait();
  for (std::int64_t number = 1; number <= 100; ++number) start(batcher, number);
  opened.count_down();
  async_db.shutdown();
  EXPECT_EQ(ids().size(), 100U);
  start(batcher, 101);
  start(batcher, 102);
  run_all();
  EXPECT_EQ(results_[99], 1000);
  EXPECT_EQ(results_[100].error().code, "OVERLOADED");
  EXPECT_EQ(results_[101].error().code, "OVERLOADED");
  EXPECT_EQ(batcher.queued(), 0U);
}

TEST_F(BatcherTest, WithAnyPoisonedRowsAndCapsEveryRowGetsItsOwnAnswer) {
  EXPECT_TRUE(rc::check([this] {
    database_->write([](Tx& tx) { tx.exec(Sql{"DELETE FROM t"}); });
    results_.clear();
    finished_ = 0;
    AsyncDatabase async_db(*database_, log_, kInlineOptions);
    Numbers batcher(async_db, runner(), {.max_rows = *rc::gen::inRange<std::size_t>(1, 20)});
    const auto poisoned =
        *rc::gen::container<std::vector<bool>>(rc::gen::weightedElement<bool>({{4, false}, {1, true}}));
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> healthy;
    for (std::size_t i = 0; i < poisoned.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i) + 1;
      numbers.push_back(poisoned[i] ? -number : number);
      if (!poisoned[i]) healthy.push_back(number);
    }
    start_together(async_db, batcher, numbers);
    run_all();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      RC_ASSERT((poisoned[i] ? !results_[i] : results_[i] == numbers[i] * 10));
    }
    RC_ASSERT(ids() == healthy);
  }));
}

TEST_F(BatcherTest, ManyThreadsEachGetTheirOwnAnswer) {
  AsyncDatabase async_db(*database_, log_);
  Numbers batcher(async_db, runner(), {.max_rows = 32});
  constexpr std::int64_t each = 300;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      testing::Mailbox mailbox;
      std::int64_t done = 0;
      for (std::int64_t i = 1; i <= each; ++i) {
        const std::int64_t number = (i % 100 == 0 ? -1 : 1) * (t * each + i);
        spawn(batcher.add(mailbox, number), [&, number](auto outcome) {
          ++done;
          const Expected<std::int64_t>& result = *outcome.value;
          if (number < 0 ? !result : result == number * 10) ++right;
        });
      }
      mailbox.run_until([&] { return done == each; });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * each);
  EXPECT_EQ(ids().size(), static_cast<std::size_t>(4 * (each - 3)));
}

}  // namespace
}  // namespace presetbridge::storage
