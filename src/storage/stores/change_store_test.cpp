#include "storage/stores/change_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::ElementsAre;
using testing::Engine;
using ::testing::IsEmpty;

constexpr AccountId kShop{5};
constexpr AccountId kOther{3};
constexpr std::int64_t kGeneration = 77;

class ChangeStoreTest : public ::testing::TestWithParam<Engine> {
 protected:
  WatchPosition watch(AccountId account, std::int64_t generation = kGeneration) {
    WatchPosition position;
    db_->write([&](Tx& tx) { position = watch_account(tx, account, generation, tx.now() + Millis{1'000}); });
    return position;
  }
  void credits_change(AccountId account) {
    db_->write([&](Tx& tx) { tx.changes().push_back(changed(ChangeKind::credits, account)); });
  }
  std::vector<std::string> changes_of(AccountId account, std::int64_t generation = kGeneration,
                                      std::int64_t after = 0) {
    std::vector<std::string> lines;
    db_->read([&](Tx& tx) {
      lines.clear();
      const std::array asked{ChangesAsked{account, generation, after}};
      const auto found = find_changes(tx, asked, 100);
      for (const auto& change : found.front())
        lines.push_back(std::to_string(change.sequence) + " " + change.kind + " " + change.data);
    });
    return lines;
  }

  testing::MigratedDatabase db_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Engines, ChangeStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(ChangeStoreTest, OnlyAccountsThatAreWatchedHaveRows) {
  credits_change(kShop);
  EXPECT_EQ(watch(kShop), (WatchPosition{kGeneration, 0}));
  credits_change(kShop);
  credits_change(kOther);
  credits_change(kShop);
  EXPECT_THAT(changes_of(kShop), ElementsAre("1 credits {}", "2 credits {}"));
  EXPECT_THAT(changes_of(kOther), IsEmpty());
  EXPECT_THAT(changes_of(kShop, kGeneration, 1), ElementsAre("2 credits {}"));
  EXPECT_THAT(changes_of(kShop, kGeneration + 1), IsEmpty());
}

TEST_P(ChangeStoreTest, AWatchThatIsThereStaysAsItIs) {
  watch(kShop);
  credits_change(kShop);
  EXPECT_EQ(watch(kShop, 99), (WatchPosition{kGeneration, 1}));
}

TEST_P(ChangeStoreTest, WhatIsChangedSeveralTimesInOneTransactionIsOneChangeAsItIsAtTheEnd) {
  watch(kShop);
  watch(kOther, 88);
  const IntegrationId store{40};
  const auto order = [&](AccountId account, std::int64_t id, const char* outcome) {
    return Change{
        .kind = ChangeKind::order, .account = account, .id = id, .integration = store, .word = outcome};
  };
  db_->write([&](Tx& tx) {
    tx.changes() = {order(kShop, 1, "awaiting_payment"), order(kOther, 9, "stopped"),
                    order(kShop, 2, "stopped"), order(kShop, 1, "delivery")};
  });
  const auto line = [&](std::int64_t number, std::int64_t id, const std::string& outcome) {
    return std::to_string(number) + " order {\"id\":\"" + to_string(OrderId{id}) + "\",\"integrationId\":\"" +
           to_string(store) + "\",\"outcome\":\"" + outcome + "\"}";
  };
  EXPECT_THAT(changes_of(kShop), ElementsAre(line(1, 2, "stopped"), line(2, 1, "delivery")));
  EXPECT_THAT(changes_of(kOther, 88), ElementsAre(line(1, 9, "stopped")));
}

TEST_P(ChangeStoreTest, AChangeThatIsRolledBackIsNotWrittenAndLeavesNoGap) {
  watch(kShop);
  EXPECT_THROW(db_->write([&](Tx& tx) {
    tx.changes().push_back(changed(ChangeKind::credits, kShop));
    tx.conclude();
    throw std::runtime_error("planted");
  }),
               std::runtime_error);
  credits_change(kShop);
  EXPECT_THAT(changes_of(kShop), ElementsAre("1 credits {}"));
}

TEST_P(ChangeStoreTest, ConcludingReportsWhatWasWrittenOnce) {
  watch(kShop);
  std::vector<WrittenChanges> written;
  db_->write([&](Tx& tx) {
    tx.changes().push_back(changed(ChangeKind::credits, kShop));
    tx.conclude();
    written = tx.news().changes;
  });
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written.front().account, kShop);
  EXPECT_EQ(written.front().first, 1);
  EXPECT_EQ(written.front().changes.front().kind, "credits");
  EXPECT_THAT(changes_of(kShop), ElementsAre("1 credits {}"));
}

TEST_P(ChangeStoreTest, WatchesEndWhenNobodyProlongsThemAndChangesByTheirAge) {
  watch(kShop);
  credits_change(kShop);
  db_.clock.advance(Millis{2'000});
  watch(kOther, 88);
  credits_change(kShop);
  std::int64_t watches = 0;
  std::int64_t changes = 0;
  db_->write([&](Tx& tx) {
    watches = delete_ended_watches(tx, tx.now(), 10);
    changes = delete_old_changes(tx, tx.now(), 10);
  });
  EXPECT_EQ(watches, 1);
  EXPECT_EQ(changes, 1);
  credits_change(kShop);
  EXPECT_THAT(changes_of(kShop), ElementsAre("2 credits {}"));
  EXPECT_EQ(watch(kShop, 99), (WatchPosition{99, 0})) << "whoever comes back sees that something is missing";
  db_->read([&](Tx& tx) {
    const std::array accounts{kOther, AccountId{4}};
    EXPECT_THAT(find_watches(tx, accounts), ElementsAre(WatchPosition{88, 0}, std::nullopt));
  });
}

// Transactions of PostgreSQL at the same time.
TEST(ChangesOfManyTransactions, AreNumberedAsTheyAreCommittedWithoutGapsOrDeadlocks) {
  testing::MigratedDatabase db{Engine::postgres};
  constexpr int kWriters = 4;
  constexpr int kTimes = 60;
  const std::array accounts{kOther, AccountId{4}, kShop};
  db->write([&](Tx& tx) {
    for (const auto account : accounts) watch_account(tx, account, kGeneration, tx.now());
  });
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int time = 0; time < kTimes; ++time) {
        db->write([&](Tx& tx) {
          // In another order than the other threads.
          for (std::size_t i = 0; i < accounts.size(); ++i) {
            const auto account = accounts[(i + static_cast<std::size_t>(writer + time)) % accounts.size()];
            tx.changes().push_back(changed(ChangeKind::bulk, account, BulkJobId{writer * 1'000 + time + 1}));
          }
        });
      }
    });
  }
  // A reader that reads on from the last change that it has seen misses none, whichever transaction was
  // committed first.
  std::array<std::int64_t, 3> seen{};
  const auto read_on = [&] {
    db->read([&](Tx& tx) {
      std::vector<ChangesAsked> asked;
      for (std::size_t i = 0; i < accounts.size(); ++i) asked.push_back({accounts[i], kGeneration, seen[i]});
      const auto found = find_changes(tx, asked, 1'000);
      for (std::size_t i = 0; i < accounts.size(); ++i) {
        for (const auto& change : found[i]) EXPECT_EQ(change.sequence, ++seen[i]);
      }
    });
  };
  while (seen.front() < kWriters * kTimes && !::testing::Test::HasFailure()) read_on();
  for (auto& writer : writers) writer.join();
  read_on();
  for (const auto number : seen) EXPECT_EQ(number, kWriters * kTimes);
}

TEST(ChangesOfManyTransactions, WhoeverReadBeforeTheWatchIsAWriterToItsEnd) {
  testing::MigratedDatabase db{Engine::postgres};
  const auto writers = [&] {
    std::set<std::string> found;
    // In a transaction that may write: one that only reads finds none.
    db->write([&](Tx& tx) { found = watch_writers(tx); });
    return found;
  };
  EXPECT_THAT(writers(), IsEmpty());
  std::set<std::string> meanwhile;
  db->write([&](Tx& tx) {
    tx.changes().push_back(changed(ChangeKind::credits, kShop));
    tx.conclude();
    std::thread([&] { meanwhile = writers(); }).join();
  });
  EXPECT_EQ(meanwhile.size(), 1U);
  EXPECT_THAT(writers(), IsEmpty());
}

}  // namespace
}  // namespace presetbridge::storage
