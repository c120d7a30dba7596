#include "domain/purchase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

namespace presetbridge::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const PurchaseTerms kTerms{.purchase = "pur_1",
                           .account = "acc_1",
                           .credits = 100,
                           .amount = 1900,
                           .currency = "eur",
                           .live = false};

PaymentFacts open_page() {
  return {.purchase = "pur_1", .account = "acc_1", .amount = 1900, .currency = "eur"};
}
PaymentFacts paid(std::int64_t refunded = 0, std::int64_t disputed = 0) {
  auto facts = open_page();
  facts.page = PaymentFacts::Page::complete;
  facts.paid = true;
  facts.refunded = refunded;
  facts.disputed = disputed;
  return facts;
}
std::vector<std::string> lines(const Balance& balance, const PurchaseStanding& before,
                               const PurchaseStanding& after) {
  std::vector<std::string> texts;
  for (const auto& [kind, credits, at, cause] : ledger_lines(balance, before, after).value())
    texts.push_back(std::string(to_string(kind)) + " " + std::to_string(credits) + " -> " +
                    std::to_string(at.within_reach()) + (cause ? " by " : "") +
                    std::string(cause ? to_string(*cause) : ""));
  return texts;
}
PurchaseStanding after(const PaymentFacts& facts) {
  return settle(kTerms, {}, facts);
}

TEST(Purchase, StatesHaveOneTextEach) {
  for (const auto state : {PurchaseState::pending, PurchaseState::paid, PurchaseState::failed,
                           PurchaseState::expired, PurchaseState::refunded, PurchaseState::disputed})
    EXPECT_EQ(parse_purchase_state(to_string(state)), state);
  EXPECT_FALSE(parse_purchase_state("bought"));
}

TEST(Purchase, WhatIsNotPaidGrantsNothing) {
  EXPECT_EQ(after(open_page()), PurchaseStanding{});
  auto slow = open_page();
  slow.page = PaymentFacts::Page::complete;
  EXPECT_EQ(after(slow).state, PurchaseState::pending) << "the bank has not confirmed yet";
  slow.payment_failed = true;
  EXPECT_EQ(after(slow).state, PurchaseState::failed);
  auto late = open_page();
  late.page = PaymentFacts::Page::expired;
  EXPECT_EQ(after(late).state, PurchaseState::expired);
  for (const auto& facts : {open_page(), slow, late}) EXPECT_EQ(after(facts).granted, 0);
}

TEST(Purchase, APaymentThatIsNotAsAgreedGrantsNothingAndSaysWhy) {
  EXPECT_EQ(after(paid()).granted, 100);
  std::array<PaymentFacts, 5> wrong;
  wrong.fill(paid());
  wrong[0].purchase = "pur_2";
  wrong[1].account = "acc_2";
  wrong[2].amount = 1899;
  wrong[3].currency = "usd";
  wrong[4].live = true;
  for (const auto& facts : wrong) {
    const auto standing = after(facts);
    EXPECT_EQ(standing.state, PurchaseState::failed);
    EXPECT_EQ(standing.granted, 0);
    EXPECT_FALSE(standing.problem.empty());
  }
}

TEST(Purchase, WhatWasGrantedStaysWhenThePaymentIsNotCalledPaidAnyMore) {
  const auto granted = after(paid());
  EXPECT_EQ(settle(kTerms, granted, open_page()), granted);
  auto other = paid();
  other.amount = 1;
  EXPECT_EQ(settle(kTerms, granted, other), granted);
}

TEST(Purchase, MoneyThatWentBackReversesItsShareRoundedUpAndAllOfItAtTheFullAmount) {
  EXPECT_EQ(after(paid(1)).reversed, 1);
  EXPECT_EQ(after(paid(19)).reversed, 1);
  EXPECT_EQ(after(paid(20)).reversed, 2);
  EXPECT_EQ(after(paid(1900)).reversed, 100);
  EXPECT_EQ(after(paid(950, 950)).reversed, 100);
  EXPECT_EQ(after(paid(1900, 1900)).reversed, 100) << "never more than was bought";
  EXPECT_EQ(after(paid(5)).state, PurchaseState::refunded);
  EXPECT_EQ(after(paid(5, 5)).state, PurchaseState::disputed);
}

TEST(Purchase, TheLedgerIsMovedByTheDifference) {
  const auto nothing = PurchaseStanding{};
  const auto bought = after(paid());
  EXPECT_THAT(lines({}, nothing, bought), ElementsAre("purchase 100 -> 100"));
  EXPECT_THAT(lines({.purchased = 100}, bought, bought), IsEmpty());
  EXPECT_THAT(lines({}, nothing, after(paid(950))),
              ElementsAre("purchase 100 -> 100", "reversal 50 -> 50 by refund"));
  EXPECT_THAT(lines({.purchased = 100, .spent = 80}, bought, after(paid(0, 1900))),
              ElementsAre("reversal 100 -> -80 by dispute"));
  EXPECT_THAT(
      lines({.purchased = 100, .reversed = 20, .spent = 80, .debt = 80}, after(paid(0, 1900)), bought),
      ElementsAre("reversal_undone 100 -> 20 by dispute"));
  EXPECT_THAT(lines({.debt = 80}, nothing, bought), ElementsAre("purchase 100 -> 20", "debt_paid 80 -> 20"));
}

TEST(Purchase, WhatARefundTookAndWhatADisputeTookAreDistinguished) {
  const Balance bought{.purchased = 100};
  const auto sold = after(paid());
  EXPECT_THAT(lines(bought, sold, after(paid(19, 1881))),
              ElementsAre("reversal 1 -> 99 by refund", "reversal 99 -> 0 by dispute"));
  EXPECT_THAT(lines(bought, sold, after(paid(5, 5))), ElementsAre("reversal 1 -> 99 by refund"))
      << "one credit, for both";
  const Balance taken{.purchased = 100, .reversed = 100};
  EXPECT_THAT(lines(taken, after(paid(19, 1881)), after(paid(19))),
              ElementsAre("reversal_undone 99 -> 99 by dispute"));
  EXPECT_THAT(lines(taken, after(paid(950, 950)), sold),
              ElementsAre("reversal_undone 50 -> 50 by refund", "reversal_undone 50 -> 100 by dispute"));
  // The dispute is won, and more than it took is refunded.
  EXPECT_THAT(lines({.purchased = 100, .reversed = 50}, after(paid(0, 950)), after(paid(1900))),
              ElementsAre("reversal 50 -> 0 by refund"));
}

TEST(Purchase, ABalanceThatCannotTakeItIsRefusedWhole) {
  EXPECT_EQ(ledger_lines({.granted = (std::int64_t{1} << 53) - 50}, {}, after(paid())).error().code,
            "INVALID_AMOUNT");
}

// However the news comes, the ledger ends where the last state of each payment says. The model knows three
// sums, and nothing of what came before.
void payments_at_random() {
  struct One {
    PurchaseTerms terms;
    PurchaseStanding standing;
    PaymentFacts facts;
  };
  const auto number = [](std::int64_t from, std::int64_t to) { return *rc::gen::inRange(from, to + 1); };
  std::vector<One> purchases;
  for (std::int64_t i = 0, all = number(1, 4); i < all; ++i) {
    PurchaseTerms terms = kTerms;
    terms.credits = number(1, 500);
    terms.amount = number(1, 5'000);
    purchases.push_back({.terms = terms, .standing = {}, .facts = open_page()});
    purchases.back().facts.amount = terms.amount;
  }
  Balance balance{.granted = number(0, 50)};
  const auto granted = balance.granted;
  std::int64_t ledger = granted;
  for (std::int64_t step = 0, steps = number(1, 60); step < steps; ++step) {
    auto& [terms, standing, facts] =
        purchases[static_cast<std::size_t>(number(0, std::ssize(purchases) - 1))];
    switch (number(0, 6)) {
      case 0:
        facts.paid = true;
        facts.page = PaymentFacts::Page::complete;
        break;
      case 1:
        if (facts.paid) facts.refunded = number(facts.refunded, terms.amount);
        break;
      case 2:  // opened, won, or a refund that failed
        if (facts.paid) facts.disputed = number(0, terms.amount);
        break;
      case 3:
        if (facts.paid) facts.refunded = number(0, facts.refunded);
        break;
      case 4:
        if (balance.available() > 0) {
          const auto n = number(1, balance.available());
          balance = spend(hold(balance, n).value(), n).value();
          ledger -= n;
        }
        break;
      default:
        break;  // heard of again
    }
    const auto now = settle(terms, standing, facts);
    for (const auto& line : ledger_lines(balance, standing, now).value()) {
      balance = line.after;
      if (line.kind != LedgerEntryKind::debt_paid)
        ledger += line.kind == LedgerEntryKind::reversal ? -line.credits : line.credits;
      RC_ASSERT(line.after.within_reach() == ledger);
    }
    standing = now;
    RC_ASSERT(balance.available() >= 0);
    RC_ASSERT(balance.debt >= 0);
    RC_ASSERT(balance.debt == 0 || balance.available() == 0);
    std::int64_t purchased = 0;
    std::int64_t reversed = 0;
    for (const auto& one : purchases) {
      RC_ASSERT(one.standing.granted ==
                (one.standing.state == PurchaseState::pending ? 0 : one.terms.credits));
      purchased += one.standing.granted;
      reversed += one.standing.reversed;
    }
    RC_ASSERT(balance.purchased == purchased);
    RC_ASSERT(balance.reversed + balance.debt == reversed);
    RC_ASSERT(balance.granted == granted);
  }
  for (const auto& one : purchases) {
    if (!one.facts.paid) continue;
    const auto back = std::min(one.terms.amount, one.facts.refunded + one.facts.disputed);
    RC_ASSERT(one.standing.reversed == (one.terms.credits * back + one.terms.amount - 1) / one.terms.amount);
  }
}

TEST(Purchase, EndsWhereThePaymentsStandWhateverWasHeardMeanwhile) {
  ASSERT_TRUE(rc::check(payments_at_random));
}

}  // namespace
}  // namespace presetbridge::domain
