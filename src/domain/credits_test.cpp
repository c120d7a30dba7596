#include "domain/credits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace presetbridge::domain {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

Balance bought(std::int64_t n) {
  return *purchase({}, n);
}

TEST(Credits, AreHeldThenSpentOrReleased) {
  Balance b = *hold(bought(10), 4);
  EXPECT_EQ(b.available(), 6);
  b = *spend(b, 3);
  b = *release(b, 1);
  EXPECT_EQ(b, (Balance{.purchased = 10, .spent = 3}));
  EXPECT_EQ(b.available(), 7);
}

TEST(Credits, MoreThanIsAvailableIsNotHeld) {
  const auto refused = hold(bought(10), 11);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INSUFFICIENT_CREDITS");
  EXPECT_EQ(hold(bought(10), 10)->available(), 0);
}

TEST(Credits, AReversalTakesWhatIsAvailableAndTheRestBecomesDebt) {
  Balance b = *hold(bought(10), 2);
  b = *spend(*hold(b, 5), 5);
  b = *reverse(b, 10);
  EXPECT_EQ(b.available(), 0);
  EXPECT_EQ(b.debt, 7);
  EXPECT_EQ(b.held, 2) << "what is held stays held";
  b = *purchase(b, 10);
  EXPECT_EQ(b.debt, 0);
  EXPECT_EQ(b.available(), 3);
}

TEST(Credits, AReleaseAGrantAndAPurchasePayDebtFirst) {
  // Ten are on hold when their pack is refunded.
  const Balance owing = *reverse(*hold(bought(10), 10), 10);
  ASSERT_EQ(owing.debt, 10);
  EXPECT_EQ(*release(owing, 10), (Balance{.purchased = 10, .reversed = 10}));
  EXPECT_EQ(release(owing, 4)->debt, 6);
  EXPECT_EQ(release(owing, 4)->available(), 0);
  EXPECT_EQ(grant(owing, 3)->debt, 7);
  EXPECT_EQ(grant(owing, 3)->available(), 0);
  EXPECT_EQ(grant(owing, 12)->debt, 0);
  EXPECT_EQ(grant(owing, 12)->available(), 2);
  EXPECT_EQ(purchase(owing, 12)->available(), 2);
}

TEST(Credits, WithinReachIsWhatReleasesCouldMakeAvailable) {
  const Balance owing = *reverse(*hold(bought(10), 6), 7);
  ASSERT_EQ(owing.debt, 3);
  EXPECT_EQ(owing.within_reach(), 3);
  EXPECT_EQ(release(owing, 6)->available(), 3);
  EXPECT_EQ(reverse(owing, 5)->within_reach(), -2);
}

TEST(Credits, AWonDisputeUndoesItsReversal) {
  const Balance before = *spend(*hold(bought(10), 4), 4);
  const Balance disputed = *reverse(before, 10);
  EXPECT_EQ(*undo_reversal(disputed, 10), before);
  // Also when the debt was paid in between.
  EXPECT_EQ(undo_reversal(*purchase(disputed, 10), 10)->available(), before.available() + 10);
  EXPECT_FALSE(undo_reversal(before, 1));
}

TEST(Credits, RefusesNonsense) {
  for (const auto operation : {hold, release, spend, grant, purchase, reverse, undo_reversal}) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, -kHuge - 1, kHuge}) {
      const auto result = operation(bought(10), n);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code, "INVALID_AMOUNT");
    }
  }
  EXPECT_FALSE(release(bought(10), 1));
  EXPECT_FALSE(spend(bought(10), 1));
  constexpr std::int64_t most = (std::int64_t{1} << 53) - 1;
  EXPECT_FALSE(purchase(bought(most), 1));
  EXPECT_TRUE(purchase(bought(most - 1), 1));
  EXPECT_FALSE(grant(bought(most), 1));
}

TEST(Credits, AGrantLeavesRoomForWhatIsBought) {
  EXPECT_FALSE(grant({}, kMostGranted + 1));
  EXPECT_FALSE(grant(bought(kMostGranted), 1));
  EXPECT_TRUE(grant(bought(kMostGranted - 1), 1));
  const auto full = grant({}, kMostGranted);
  ASSERT_TRUE(full);
  EXPECT_EQ(grant(*full, 1).error().code, "INVALID_AMOUNT");
  const auto sold = purchase(*full, kMostGranted);
  ASSERT_TRUE(sold);
  EXPECT_EQ(sold->available(), 2 * kMostGranted);
}

// The n-th of all operations.
constexpr int kOperations = 7;
Expected<Balance> apply(int what, const Balance& b, std::int64_t n) {
  constexpr std::array kAll{hold, release, spend, grant, purchase, reverse, undo_reversal};
  static_assert(kAll.size() == kOperations);
  return kAll.at(static_cast<std::size_t>(what))(b, n);
}
constexpr int kHold = 0, kRelease = 1, kSpend = 2, kGrant = 3, kPurchase = 4, kReverse = 5, kUndo = 6;

TEST(Credits, AnySequenceKeepsTheRulesAndTheLedgerSumsToTheBalance) {
  EXPECT_TRUE(rc::check([] {
    Balance b;
    __extension__ using Wide = __int128;
    // The ledger's sums by kind, and the credits on hold, of which it has no entries.
    Wide granted = 0, purchased = 0, spent = 0, reversed = 0, undone = 0, debt_paid = 0, held = 0;
    Wide owed = 0, forgiven = 0;  // what became debt, and what of it a won dispute took back
    for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, kOperations))) {
      const std::int64_t n = *rc::gen::weightedOneOf<std::int64_t>(
          {{9, rc::gen::inRange<std::int64_t>(1, 20)}, {1, rc::gen::arbitrary<std::int64_t>()}});
      const auto next = apply(what, b, n);
      if (!next) continue;
      const auto debt_before = std::exchange(b, *next).debt;
      const auto debt_change = b.debt - debt_before;
      if (what == kHold) held += n;
      if (what == kRelease || what == kSpend) held -= n;
      if (what == kSpend) spent += n;
      if (what == kGrant) granted += n;
      if (what == kPurchase) purchased += n;
      if (what == kReverse) reversed += n, owed += debt_change;
      if (what == kUndo) undone += n, forgiven -= debt_change;
      if (what == kRelease || what == kGrant || what == kPurchase) debt_paid -= debt_change;
      RC_ASSERT(b.available() >= 0);
      RC_ASSERT(b.debt >= 0);
      RC_ASSERT(b.available() == 0 || b.debt == 0);
      RC_ASSERT(b.reversed >= 0);
      RC_ASSERT(Wide{b.granted} == granted);
      RC_ASSERT(Wide{b.purchased} == purchased);
      RC_ASSERT(Wide{b.spent} == spent);
      RC_ASSERT(Wide{b.held} == held);
      RC_ASSERT(Wide{b.reversed} + b.debt == reversed - undone);
      RC_ASSERT(Wide{b.debt} == owed - forgiven - debt_paid);
      RC_ASSERT(Wide{b.available()} - b.debt == granted + purchased + undone - reversed - spent - held);
    }
  }));
}

// As a node of an earlier program may leave it.
TEST(Credits, WhatBecomesAvailablePaysADebtThatStoodBesideCredits) {
  EXPECT_TRUE(rc::check([] {
    const auto few = rc::gen::inRange<std::int64_t>(0, 20);
    const Balance b{
        .granted = 40 + *few, .purchased = 40, .reversed = *few, .spent = *few, .held = *few, .debt = *few};
    const int what = *rc::gen::element(kRelease, kGrant, kPurchase, kReverse, kUndo);
    const auto after = apply(what, b, *rc::gen::inRange<std::int64_t>(1, 40));
    RC_PRE(after.has_value());
    RC_ASSERT(after->available() >= 0 && after->debt >= 0);
    RC_ASSERT(after->available() == 0 || after->debt == 0);
  }));
}

TEST(Credits, ARefundReversesInProportionAndAllAtTheFullAmount) {
  EXPECT_EQ(credits_reversed(100, 2'500, 0), 0);
  EXPECT_EQ(credits_reversed(100, 2'500, 1), 1) << "rounded up";
  EXPECT_EQ(credits_reversed(100, 2'500, 25), 1);
  EXPECT_EQ(credits_reversed(100, 2'500, 26), 2);
  EXPECT_EQ(credits_reversed(100, 2'500, 2'474), 99);
  EXPECT_EQ(credits_reversed(100, 2'500, 2'476), 100);
  EXPECT_EQ(credits_reversed(100, 2'500, 2'500), 100);
  EXPECT_EQ(credits_reversed(100, 2'500, kHuge), 100);
  EXPECT_EQ(credits_reversed(kHuge, kHuge, kHuge - 1), kHuge - 1);
  EXPECT_EQ(credits_reversed(100, 0, 10), 0);
  EXPECT_EQ(credits_reversed(100, 10, -1), 0);
}

}  // namespace
}  // namespace presetbridge::domain
