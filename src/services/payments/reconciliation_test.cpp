#include "services/payments/reconciliation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "services/payments/payments_testing.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;
using ::testing::ElementsAre;
using Fate = testing::FakeProcessor::Fate;

class ReconciliationTest : public ::testing::Test {
 protected:
  ~ReconciliationTest() override {
    world_.processor.before = {};
    world_.processor.release_all();
    if (world_.reconciliation) world_.stop_reconciliation();
  }
  testing::PaymentsWorld world_;
};

TEST_F(ReconciliationTest, GrantsWhatWasPaidWhileTheServiceWasAwayWithinAMinuteOfItsReturn) {
  world_.start_reconciliation();
  world_.scheduler.advance(Millis{1'000});
  std::vector<storage::PurchaseRow> bought;
  for (int i = 0; i < 15; ++i) bought.push_back(world_.buy());
  world_.stop_reconciliation();
  for (const auto& one : bought) world_.processor.pay(one.session);
  world_.clock().advance(std::chrono::hours{20});
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::minutes{1});
  for (const auto& one : bought) EXPECT_EQ(world_.state(one.id), "paid");
  EXPECT_EQ(world_.balance(), (domain::Balance{.purchased = 1'500}));
}

TEST_F(ReconciliationTest, HearsOfRefundsAndDisputesThatNoWebhookReported) {
  const auto first = world_.buy();
  const auto second = world_.buy();
  world_.start_reconciliation();
  world_.processor.pay(first.session);
  world_.processor.pay(second.session);
  world_.scheduler.advance(std::chrono::minutes{2});
  world_.stop_reconciliation();
  world_.processor.give_back(first.session, 1'900);
  world_.clock().advance(std::chrono::days{3});
  world_.processor.dispute(second.session, 950);
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::minutes{1});
  EXPECT_EQ(world_.state(first.id), "refunded");
  EXPECT_EQ(world_.state(second.id), "disputed");
  EXPECT_EQ(world_.balance(), (domain::Balance{.purchased = 200, .reversed = 150}));
}

TEST_F(ReconciliationTest, GoesOnWhereItStoppedHoweverManyNoticesThereAre) {
  const auto bought = world_.buy();
  world_.start_reconciliation();
  world_.processor.pay(bought.session);
  world_.scheduler.advance(std::chrono::minutes{1});
  world_.stop_reconciliation();
  world_.processor.give_back(bought.session, 19);
  for (int i = 0; i < 500; ++i)
    world_.processor.publish("charge.dispute.closed", world_.processor.session_of(to_string(bought.id)));
  // Each round reads a few pages, and each process dies after a few rounds.
  for (int i = 0; i < 40 && world_.state(bought.id) == "paid"; ++i) {
    world_.start_reconciliation();
    world_.scheduler.advance(Millis{30'000});
    world_.stop_reconciliation();
  }
  EXPECT_EQ(world_.state(bought.id), "refunded");
}

// The processor deletes notices after a month.
TEST_F(ReconciliationTest, BeginsAWindowAnewWhoseLastPageTheProcessorHasForgotten) {
  const auto bought = world_.buy();
  world_.start_reconciliation();
  world_.processor.pay(bought.session);
  world_.scheduler.advance(std::chrono::minutes{1});
  world_.stop_reconciliation();
  ASSERT_EQ(world_.state(bought.id), "paid");
  for (int i = 0; i < 500; ++i)
    world_.processor.publish("charge.dispute.closed", world_.processor.session_of(to_string(bought.id)));
  world_.start_reconciliation();
  world_.scheduler.run();
  world_.stop_reconciliation();  // in the middle of the window
  world_.scheduler.advance(std::chrono::days{31});
  world_.processor.sent_notices.clear();
  world_.processor.give_back(bought.session, 19);
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::minutes{5});
  world_.stop_reconciliation();
  EXPECT_EQ(world_.state(bought.id), "refunded");
}

TEST_F(ReconciliationTest, ARoundUnderWayDoesNotUndoThatTheOperatorHasNoticesReadAgain) {
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::minutes{2});
  world_.processor.before = [](const auto& call) { return call == "notices" ? Fate::hold : Fate::answer; };
  world_.scheduler.advance(Millis{25'000});
  ASSERT_EQ(world_.processor.held(), 1U);
  const Timestamp wanted = world_.clock().now() - std::chrono::days{3};
  world_.db->write([&](Tx& tx) { storage::reread_notices(tx, false, wanted); });
  world_.processor.release_all();
  world_.scheduler.run();
  std::optional<Timestamp> since;
  world_.db->read([&](Tx& tx) {
    since = tx.one({"SELECT since FROM payment_notices"}, [](const storage::Row& r) { return r.time(0); });
  });
  EXPECT_EQ(since, wanted);
}

TEST_F(ReconciliationTest, PurchasesOfTheTestModeRestWhileTheProcessorIsLive) {
  const auto bought = world_.buy();
  world_.processor.is_live = true;
  world_.processor.calls.clear();
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::hours{30});
  EXPECT_EQ(std::ranges::count(world_.processor.calls, "look_up"), 0);
  EXPECT_EQ(world_.metrics.gauges["presetbridge_purchases_pending_old"], 0);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(world_.state(world_.buy().id), "pending") << "not counted among " << i;
  world_.processor.is_live = false;
  world_.processor.pay(bought.session);
  world_.scheduler.advance(std::chrono::hours{2});
  EXPECT_EQ(world_.state(bought.id), "paid");
}

TEST_F(ReconciliationTest, AsksSeldomerTheLongerAPurchaseWaits) {
  const auto bought = world_.buy();
  world_.processor.pay_later(bought.session);
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::hours{6});
  const auto asked = std::ranges::count(world_.processor.calls, std::string("look_up"));
  EXPECT_GT(asked, 15);
  EXPECT_LT(asked, 40);
  world_.processor.facts(bought.session).paid = true;
  world_.scheduler.advance(std::chrono::hours{1} + std::chrono::minutes{1});
  EXPECT_EQ(world_.state(bought.id), "paid");
  EXPECT_FALSE(world_.row(bought.id).due_at);
}

TEST_F(ReconciliationTest, AProcessorThatIsAwayIsAskedAgainUntilItAnswers) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  world_.processor.before = [](const auto&) { return Fate::away; };
  world_.start_reconciliation();
  world_.scheduler.advance(std::chrono::hours{2});
  EXPECT_EQ(world_.state(bought.id), "pending");
  world_.processor.before = {};
  world_.scheduler.advance(std::chrono::minutes{2});
  EXPECT_EQ(world_.state(bought.id), "paid");
}

// A query is on its way when a refund is reported, and its answer does not have the refund.
TEST_F(ReconciliationTest, AnAnswerToAnEarlierQuestionDoesNotEndThatThereIsNews) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  ASSERT_TRUE(world_.settle(bought.id));
  world_.processor.before = [](const auto& call) { return call == "look_up" ? Fate::hold : Fate::answer; };
  spawn(world_.settlement.settle(world_.scheduler, bought.id), [](auto) {});
  world_.scheduler.run();
  world_.processor.before = {};
  world_.processor.give_back(bought.session, 1'900);
  world_.db->write([&](Tx& tx) { make_purchase_due(tx, bought.id, tx.now()); });
  world_.processor.release_all();
  world_.scheduler.run();
  EXPECT_EQ(world_.state(bought.id), "paid");
  ASSERT_TRUE(world_.row(bought.id).due_at);
  world_.start_reconciliation();
  world_.scheduler.advance(Millis{1'000});
  EXPECT_EQ(world_.state(bought.id), "refunded");
  EXPECT_FALSE(world_.row(bought.id).due_at);
}

TEST_F(ReconciliationTest, APurchaseWhosePageWasNeverOpenedEnds) {
  const auto bought = world_.buy();
  world_.db->write([&](Tx& tx) {
    auto row = lock_purchase(tx, bought.id).value();
    row.session.clear();
    update_purchase(tx, row);
  });
  world_.start_reconciliation();
  world_.scheduler.advance(Millis{200'000});
  EXPECT_EQ(world_.state(bought.id), "pending");
  world_.scheduler.advance(kOpensWithin);
  EXPECT_EQ(world_.state(bought.id), "failed");
}

TEST_F(ReconciliationTest, OfSeveralNodesOneReadsTheNotices) {
  std::vector<std::unique_ptr<Reconciliation>> nodes;
  for (const auto* name : {"a", "b", "c"}) {
    nodes.push_back(std::make_unique<Reconciliation>(
        Reconciliation::Ports{world_.scheduler, world_.clock(), world_.async_db, world_.settlement,
                              world_.log, world_.metrics, name}));
    nodes.back()->start();
  }
  world_.scheduler.advance(Millis{19'000});
  EXPECT_EQ(std::ranges::count(world_.processor.calls, std::string("notices")), 1);
  // The one dies: another takes over once the lease has run out.
  bool stopped = false;
  nodes[0]->stop([&] { stopped = true; });
  world_.scheduler.advance(std::chrono::minutes{3});
  EXPECT_TRUE(stopped);
  EXPECT_GT(std::ranges::count(world_.processor.calls, std::string("notices")), 2);
  for (auto& node : nodes) node->stop([] {});
  world_.scheduler.advance(std::chrono::minutes{1});
}

}  // namespace
}  // namespace presetbridge::services
