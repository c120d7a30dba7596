#include "services/credits/credits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "identity/testing.h"
#include "services/accounts/accounts.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;
using ::testing::ElementsAre;

class CreditsTest : public ::testing::Test {
 protected:
  CreditsTest() {
    Accounts accounts(world_.async_db, world_.ids, identity::Signup::open);
    me_ = world_.await(accounts.principal_of(world_.scheduler, {"https://id.example", "me", "", {}})).value();
  }
  // As payments will: a pack is bought, used up and refunded.
  void owe(std::int64_t debt) {
    world_.db->write([&](Tx& tx) {
      auto b = lock_balance(tx, me_.account).value();
      b = domain::reverse(b, debt).value();
      ASSERT_EQ(b.debt, debt);
      update_balance(tx, me_.account, b);
    });
  }
  domain::Balance grant(std::int64_t credits) {
    return world_.await(credits_.grant(world_.scheduler, me_.account, credits, "sorry")).value();
  }
  std::vector<std::string> ledger() {
    std::vector<std::string> entries;
    for (const auto& e : world_.await(credits_.ledger(world_.scheduler, me_, {}, {}))->rows)
      entries.push_back(std::string(to_string(e.kind)) + " " + std::to_string(e.credits) + " " + e.note);
    return entries;
  }
  std::size_t tasks() {
    std::size_t found = 0;
    world_.db->read([&](Tx& tx) {
      found = tx.one({"SELECT count(*) FROM account_chores WHERE chore = 'resume_credits'"},
                     [](const storage::Row& r) { return static_cast<std::size_t>(r.int64(0)); })
                  .value();
    });
    return found;
  }

  identity::testing::World world_;
  Credits credits_{world_.async_db, world_.ids, [] {}};
  identity::Principal me_;
};

TEST_F(CreditsTest, AGrantThatOnlyPaysDebtSaysSoAndResumesNothing) {
  owe(10);
  EXPECT_EQ(grant(4), (domain::Balance{.granted = 4, .reversed = 4, .debt = 6}));
  EXPECT_THAT(ledger(), ElementsAre("debt_paid 4 sorry", "grant 4 sorry"));
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(CreditsTest, ARareKindIsSearchedABatchAtATime) {
  grant(1);
  world_.db->write([&](Tx& tx) {
    std::vector<storage::LedgerRow> spends(2 * Credits::max_scanned + 10);
    for (auto& [account, entry] : spends) {
      account = me_.account;
      entry = {.id = world_.ids.make<LedgerId>(),
               .at = tx.now(),
               .kind = domain::LedgerEntryKind::spend,
               .credits = 1,
               .item = world_.ids.make<ItemId>()};
    }
    append_ledger(tx, spends);
  });
  const auto page = [&](domain::LedgerEntryKind kind, std::int64_t before, int limit = 50) {
    return world_
        .await(credits_.ledger(world_.scheduler, me_, {.kind = kind}, {.limit = limit, .before = before}))
        .value();
  };
  std::int64_t from = storage::PageRequest{}.before;
  for (int empty = 0; empty < 2; ++empty) {
    const auto found = page(domain::LedgerEntryKind::grant, from);
    EXPECT_TRUE(found.rows.empty());
    ASSERT_TRUE(found.next) << empty;
    from = *found.next;
  }
  const auto found = page(domain::LedgerEntryKind::grant, from);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_FALSE(found.next);

  std::set<LedgerId> seen;
  std::optional<std::int64_t> next = storage::PageRequest{}.before;
  while (next) {
    const auto spends = page(domain::LedgerEntryKind::spend, *next, 199);
    for (const auto& entry : spends.rows) EXPECT_TRUE(seen.insert(entry.id).second);
    next = spends.next;
  }
  EXPECT_EQ(seen.size(), 2U * Credits::max_scanned + 10);
}

TEST_F(CreditsTest, WhatAGrantLeavesAfterTheDebtIsAvailableAndResumesWhatWaitsForIt) {
  owe(10);
  EXPECT_EQ(grant(12).available(), 2);
  EXPECT_THAT(ledger(), ElementsAre("debt_paid 10 sorry", "grant 12 sorry"));
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(grant(1).available(), 3);
  EXPECT_THAT(ledger(), ElementsAre("grant 1 sorry", "debt_paid 10 sorry", "grant 12 sorry"));
}

TEST_F(CreditsTest, AGrantBeyondTheLimitIsRefusedAndChangesNothing) {
  EXPECT_EQ(grant(domain::kMostGranted).available(), domain::kMostGranted);
  const auto beyond = world_.await(credits_.grant(world_.scheduler, me_.account, 1, "one more"));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, "VALIDATION_FAILED");
  EXPECT_THAT(ledger(), ElementsAre("grant 1000000000000 sorry"));
}

}  // namespace
}  // namespace presetbridge::services
