#include "services/payments/purchases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/payments/payments_testing.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Fate = testing::FakeProcessor::Fate;

class PurchasesTest : public ::testing::Test {
 protected:
  testing::PaymentsWorld world_;
};

TEST_F(PurchasesTest, AreThereBeforeTheirPageAndKeepTheirPack) {
  const auto bought = world_.buy("large");
  EXPECT_EQ(bought.url, "https://pay.example/" + bought.session);
  EXPECT_EQ(bought.credits, 500);
  EXPECT_EQ(world_.state(bought.id), "pending");
  const auto& wanted = world_.processor.pages.at(bought.session).wanted;
  EXPECT_EQ(wanted.purchase, to_string(bought.id));
  EXPECT_EQ(wanted.account, to_string(world_.me.account));
  EXPECT_EQ(wanted.amount, 7'900);
  const auto back = "https://bridge.example/credits/return?purchase=" + to_string(bought.id);
  EXPECT_EQ(wanted.return_url, back);
  EXPECT_EQ(wanted.cancel_url, back);
  EXPECT_EQ(wanted.expires_at, world_.clock().now() + std::chrono::minutes{45});
  // Prices change while the page is open: what was agreed counts.
  world_.processor.pay(bought.session);
  auto options = testing::PaymentsWorld::options();
  options.packs = {{"small", "100 credits", 1, 99'000, "usd"}};
  Purchases later(world_.async_db, world_.ids, &world_.settlement, options);
  const auto refreshed = world_.await(later.refresh(world_.scheduler, world_.me, bought.id));
  ASSERT_TRUE(refreshed);
  EXPECT_EQ(refreshed->standing.state, domain::PurchaseState::paid);
  EXPECT_EQ(world_.balance(), (domain::Balance{.purchased = 500}));
  EXPECT_THAT(world_.ledger(), ElementsAre("purchase 500"));
  EXPECT_EQ(world_.entries(world_.me).front().balance_after, 500);
}

TEST_F(PurchasesTest, ThatAreNotPaidGrantNothing) {
  const auto bought = world_.buy();
  EXPECT_EQ(world_.settle(bought.id)->standing.state, domain::PurchaseState::pending);
  world_.processor.pay_later(bought.session);
  EXPECT_EQ(world_.settle(bought.id)->standing.state, domain::PurchaseState::pending);
  world_.processor.fail(bought.session);
  EXPECT_EQ(world_.settle(bought.id)->standing.state, domain::PurchaseState::failed);
  EXPECT_TRUE(world_.row(bought.id).url.empty());
  EXPECT_THAT(world_.ledger(), IsEmpty());
  // The same page cannot be paid again, but what it says last counts.
  world_.processor.pay(bought.session);
  EXPECT_EQ(world_.settle(bought.id)->standing.state, domain::PurchaseState::paid);
}

TEST_F(PurchasesTest, ThatAreNotAsAgreedGrantNothingAndAreReported) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  world_.processor.facts(bought.session).amount = 1;
  EXPECT_EQ(world_.settle(bought.id)->standing.state, domain::PurchaseState::failed);
  EXPECT_THAT(world_.row(bought.id).standing.problem, HasSubstr("another amount"));
  EXPECT_THAT(world_.log.text, HasSubstr("a payment grants nothing"));
  EXPECT_EQ(world_.balance(), domain::Balance{});
}

TEST_F(PurchasesTest, ArePaidOnceHoweverManyAskAtOnce) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  world_.processor.before = [](const auto& call) { return call == "look_up" ? Fate::hold : Fate::answer; };
  int settled = 0;
  for (int i = 0; i < 50; ++i)
    spawn(world_.settlement.settle(world_.scheduler, bought.id),
          [&](auto outcome) { settled += outcome.value && outcome.value->has_value() ? 1 : 0; });
  world_.scheduler.run();
  ASSERT_EQ(world_.processor.held(), 50U);
  // The last is answered first.
  while (world_.processor.held() > 0) {
    world_.processor.release(world_.processor.held() - 1);
    world_.scheduler.run();
  }
  EXPECT_EQ(settled, 50);
  EXPECT_THAT(world_.ledger(), ElementsAre("purchase 100"));
  EXPECT_EQ(world_.resumed, 1);
}

TEST_F(PurchasesTest, AnOlderAnswerDoesNotReplaceANewerOne) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  ASSERT_TRUE(world_.settle(bought.id));
  // One is asked while a dispute is open, and its answer comes after the one that knows of its end.
  world_.processor.dispute(bought.session, 1'900);
  world_.processor.before = [](const auto&) { return Fate::hold; };
  bool slow_done = false;
  spawn(world_.settlement.settle(world_.scheduler, bought.id), [&](auto) { slow_done = true; });
  world_.scheduler.run();
  world_.processor.before = {};
  world_.processor.dispute(bought.session, 0);
  ASSERT_TRUE(world_.settle(bought.id));
  world_.processor.release_all();
  world_.scheduler.run();
  ASSERT_TRUE(slow_done);
  EXPECT_EQ(world_.state(bought.id), "paid");
  EXPECT_EQ(world_.balance(), (domain::Balance{.purchased = 100}));
}

TEST_F(PurchasesTest, RefundsAndDisputesReverseAndAWonDisputeUndoesIt) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  ASSERT_TRUE(world_.settle(bought.id));
  world_.spend(world_.me, 80);
  world_.processor.give_back(bought.session, 190);
  EXPECT_EQ(world_.settle(bought.id)->standing.reversed, 10);
  EXPECT_EQ(world_.state(bought.id), "refunded");
  world_.processor.dispute(bought.session, 1'710);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_EQ(world_.state(bought.id), "disputed");
  EXPECT_EQ(world_.balance(), (domain::Balance{.purchased = 100, .reversed = 20, .spent = 80, .debt = 80}));
  EXPECT_EQ(world_.entries(world_.me).front().balance_after, -80);
  // The next purchase pays the debt first.
  const auto second = world_.buy();
  world_.processor.pay(second.session);
  ASSERT_TRUE(world_.settle(second.id));
  EXPECT_EQ(world_.balance().available(), 20);
  EXPECT_EQ(world_.balance().debt, 0);
  world_.processor.dispute(bought.session, 0);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_EQ(world_.balance().available(), 110);
  EXPECT_EQ(world_.state(bought.id), "refunded");
  const auto lines = world_.ledger();
  EXPECT_EQ(lines.back(), "reversal_undone 90 by dispute");
}

TEST_F(PurchasesTest, AReversalThatLeavesFewCreditsIsReportedOnce) {
  world_.db->write([&](Tx& tx) {
    storage::SubscriptionRow row{.id = world_.ids.make<SubscriptionId>(),
                                 .account = world_.me.account,
                                 .url = "https://shop.example/"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_subscription(tx, row);
  });
  const auto low_credit_events = [&] {
    std::int64_t events = 0;
    world_.db->read([&](Tx& tx) {
      events = tx.one({"SELECT count(*) FROM outbound_events WHERE type = 'credits.low'"},
                      [](const storage::Row& r) { return r.int64(0); })
                   .value();
    });
    return events;
  };
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  ASSERT_TRUE(world_.settle(bought.id));
  world_.processor.give_back(bought.session, 1'000);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_EQ(low_credit_events(), 0);
  world_.processor.give_back(bought.session, 1'800);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_EQ(low_credit_events(), 1) << "five of a hundred are left";
  world_.processor.give_back(bought.session, 1'900);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_EQ(low_credit_events(), 1);
}

TEST_F(PurchasesTest, APageThatCannotBeOpenedLosesNothing) {
  for (const auto fate : {Fate::away, Fate::lose_answer, Fate::nonsense}) {
    world_.processor.before = [fate](const auto&) { return fate; };
    const auto refused = world_.await(world_.purchases.buy(world_.scheduler, world_.me, "small"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "PAYMENTS_UNAVAILABLE");
  }
  world_.processor.before = {};
  const auto all = world_.await(world_.purchases.list(world_.scheduler, world_.me, {}, {}));
  ASSERT_EQ(all->rows.size(), 3U);
  for (const auto& row : all->rows) EXPECT_EQ(row.standing.state, domain::PurchaseState::failed);
  EXPECT_EQ(world_.buy().standing.state, domain::PurchaseState::pending);
}

TEST_F(PurchasesTest, AnAnswerThatDoesNotComeChangesNothing) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  for (const auto fate : {Fate::away, Fate::nonsense}) {
    world_.processor.before = [fate](const auto&) { return fate; };
    EXPECT_EQ(world_.settle(bought.id).error().code, "PAYMENTS_UNAVAILABLE");
    EXPECT_EQ(world_.state(bought.id), "pending");
  }
  world_.processor.before = {};
  EXPECT_EQ(world_.settle(bought.id)->standing.granted, 100);
}

TEST_F(PurchasesTest, AreTheirAccountsAlone) {
  const auto bought = world_.buy();
  const auto other = world_.new_account("other");
  EXPECT_EQ(world_.await(world_.purchases.get(world_.scheduler, other, bought.id)).error().code, "NOT_FOUND");
  EXPECT_EQ(world_.await(world_.purchases.refresh(world_.scheduler, other, bought.id)).error().code,
            "NOT_FOUND");
  EXPECT_THAT(world_.await(world_.purchases.list(world_.scheduler, other, {}, {}))->rows, IsEmpty());
}

TEST_F(PurchasesTest, AreAskedAboutAgainOnlyAMomentLater) {
  const auto bought = world_.buy();
  const auto refresh = [&] {
    return world_.await(world_.purchases.refresh(world_.scheduler, world_.me, bought.id)).value();
  };
  refresh();
  const auto asked = world_.processor.calls.size();
  refresh();
  EXPECT_EQ(world_.processor.calls.size(), asked);
  world_.clock().advance(kAskedAnew);
  refresh();
  EXPECT_EQ(world_.processor.calls.size(), asked + 1);
}

TEST_F(PurchasesTest, ThatWaitAreLimited) {
  for (int i = 0; i < kMostPendingPurchases; ++i) world_.buy();
  EXPECT_EQ(world_.await(world_.purchases.buy(world_.scheduler, world_.me, "small")).error().code,
            "LIMIT_REACHED");
  EXPECT_EQ(world_.await(world_.purchases.buy(world_.scheduler, world_.me, "huge")).error().code,
            "VALIDATION_FAILED");
  Purchases off(world_.async_db, world_.ids, nullptr, {});
  EXPECT_EQ(world_.await(off.buy(world_.scheduler, world_.me, "small")).error().code, "PAYMENTS_OFF");
}

TEST_F(PurchasesTest, ThatHaveWaitedForAWeekDoNotCount) {
  for (int i = 0; i < kMostPendingPurchases; ++i) world_.buy();
  world_.clock().advance(kPendingCounted + std::chrono::hours{1});
  EXPECT_TRUE(world_.await(world_.purchases.buy(world_.scheduler, world_.me, "small")));
}

TEST_F(PurchasesTest, OneThatTheProcessorRefusesToReportIsAskedAboutSeldomer) {
  const auto bought = world_.buy();
  world_.clock().advance(std::chrono::hours{20});
  world_.processor.pages.erase(bought.session);
  EXPECT_EQ(world_.settle(bought.id).error().code, "PAYMENTS_UNAVAILABLE");
  EXPECT_EQ(world_.row(bought.id).due_at, world_.clock().now() + std::chrono::hours{1});
  EXPECT_EQ(world_.state(bought.id), "pending");
}

TEST_F(PurchasesTest, OneThatIsPaidAfterItsAccountWasDeletedIsReported) {
  const auto bought = world_.buy();
  world_.db->write([&](Tx& tx) {
    tx.exec({"UPDATE accounts SET deleted_at = $2 WHERE id = $1"}, world_.me.account, tx.now());
  });
  world_.processor.pay(bought.session);
  ASSERT_TRUE(world_.settle(bought.id));
  EXPECT_THAT(world_.log.text, ::testing::HasSubstr("paid after its account was deleted"));
}

TEST_F(PurchasesTest, ANoticeOfAPageThatTheRowDoesNotKnowFindsItsPurchase) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  const auto notice = world_.processor.sent_notices.back().notice;
  // The process died between the page and the row.
  world_.db->write([&](Tx& tx) {
    auto row = lock_purchase(tx, bought.id).value();
    row.session.clear();
    update_purchase(tx, row);
  });
  ASSERT_TRUE(world_.await(world_.purchases.noticed(world_.scheduler, notice)));
  EXPECT_EQ(world_.state(bought.id), "paid");
  EXPECT_EQ(world_.row(bought.id).session, bought.session);
  // A notice of an unknown payment changes nothing.
  EXPECT_TRUE(world_.await(world_.purchases.noticed(world_.scheduler, {.id = "evt", .payment = "pi_other"})));
}

}  // namespace
}  // namespace presetbridge::services
