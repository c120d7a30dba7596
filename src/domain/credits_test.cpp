#include "domain/credits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

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

TEST(Credits, AGrantPaysNoDebt) {
  const Balance b = *grant(*reverse({}, 5), 3);
  EXPECT_EQ(b.debt, 5);
  EXPECT_EQ(b.available(), 3);
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
  EXPECT_FALSE(purchase(bought((std::int64_t{1} << 53) - 1), 1));
}

TEST(Credits, NeitherAvailableNorDebtIsEverNegativeAndNothingGetsLost) {
  EXPECT_TRUE(rc::check([] {
    Balance b;
    __extension__ using Wide = __int128;
    Wide in = 0;  // granted, bought and given back, less taken away
    Wide spent = 0, held = 0;
    for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7))) {
      const std::int64_t n = *rc::gen::weightedOneOf<std::int64_t>(
          {{9, rc::gen::inRange<std::int64_t>(1, 20)}, {1, rc::gen::arbitrary<std::int64_t>()}});
      Expected<Balance> next = b;
      if (what == 0) next = hold(b, n);
      if (what == 1) next = release(b, n);
      if (what == 2) next = spend(b, n);
      if (what == 3) next = grant(b, n);
      if (what == 4) next = purchase(b, n);
      if (what == 5) next = reverse(b, n);
      if (what == 6) next = undo_reversal(b, n);
      if (!next) continue;
      b = *next;
      if (what == 0) held += n;
      if (what == 1 || what == 2) held -= n;
      if (what == 2) spent += n;
      if (what == 3 || what == 4 || what == 6) in += n;
      if (what == 5) in -= n;
      RC_ASSERT(b.available() >= 0);
      RC_ASSERT(b.debt >= 0);
      RC_ASSERT(b.reversed >= 0);
      RC_ASSERT(b.held == static_cast<std::int64_t>(held));
      RC_ASSERT(b.spent == static_cast<std::int64_t>(spent));
      RC_ASSERT(b.available() - b.debt == static_cast<std::int64_t>(in - spent - held));
    }
  }));
}

TEST(Credits, ARefundReversesInProportionAndAllAtTheFullAmount) {
  EXPECT_EQ(credits_reversed(100, 2'500, 0), 0);
  EXPECT_EQ(credits_reversed(100, 2'500, 1), 0);
  EXPECT_EQ(credits_reversed(100, 2'500, 25), 1);
  EXPECT_EQ(credits_reversed(100, 2'500, 2'499), 99);
  EXPECT_EQ(credits_reversed(100, 2'500, 2'500), 100);
  EXPECT_EQ(credits_reversed(100, 2'500, kHuge), 100);
  EXPECT_EQ(credits_reversed(kHuge, kHuge, kHuge - 1), kHuge - 1);
  EXPECT_EQ(credits_reversed(100, 0, 10), 0);
  EXPECT_EQ(credits_reversed(100, 10, -1), 0);
}

}  // namespace
}  // namespace presetbridge::domain
