#include "services/intake/privacy.h"

#include <gmock/gmock.h>

#include "services/intake/privacy_testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using storage::PrivacyKind;
using storage::Tx;
using testing::Privacy;

TEST_F(Privacy, NothingOfAnErasedBuyerIsLeftBehind) {
  const auto shared = world.deliver(world.order("1", "Ann", {"sku-1"}));
  name_items(shared);
  world.cloud.auto_accept = false;
  const auto waiting = world.deliver(world.order("2", "Anna-Waiting", {"sku-1"}));
  ASSERT_EQ(world.status(shared), "completed");
  ASSERT_EQ(world.status(waiting), "waiting_for_friendship");
  EXPECT_EQ(ask(OrderEvent::Kind::customer_redact, {"2", "1", "2", "unknown"}).reason, "customer_redacted");
  const auto text = everything();
  for (const auto* personal : {"Ann", "ann", "buyer@example.com"})
    EXPECT_EQ(text.find(personal), std::string::npos) << personal << " in " << text;
  EXPECT_EQ(world.status(shared), "completed");
  EXPECT_EQ(world.status(waiting), "invalidated");
  world.settle(std::chrono::hours{1});
  testing::expect_books_balance(world);
}

TEST_F(Privacy, ARefundOfALineAfterTheErasureTakesItsFileBack) {
  world.auto_revoke();
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "completed");
  ask(OrderEvent::Kind::customer_redact, {"1"});
  auto refund = request(OrderEvent::Kind::refund);
  refund.order_id = "1";
  refund.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refund);
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_FALSE(world.cloud.shares.contains({"u-ann", "file-1"}));
  EXPECT_TRUE(world.cloud.shares.contains({"u-ann", "file-2"}));
}

TEST_F(Privacy, ALookUpUnderWayNamesNoBuyerWhoWasErasedMeanwhile) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? testing::once(held, testing::FakeCloud::Fate::hold)
                               : testing::FakeCloud::Fate::answer;
  };
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.deliver(world.order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(world.status(first), "processing");
  ask(OrderEvent::Kind::customer_redact, {"1"});
  world.cloud.release();
  world.settle(std::chrono::minutes{2});
  ask(OrderEvent::Kind::customer_redact, {"2"});
  const auto text = everything();
  for (const auto* personal : {"Ann", "ann", "buyer@example.com"})
    EXPECT_EQ(text.find(personal), std::string::npos) << personal << " in " << text;
}

// Spec 3.11, 9.6: nothing that would deliver again is taken of an erased order, in any status.
TEST_F(Privacy, WhatWasErasedIsDeliveredToNobodyByAnyAction) {
  auto& actions = world.actions;
  const auto by = world.merchant();
  const auto completed = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.cloud.auto_accept = false;
  const auto ended = world.deliver(world.order("2", "Ben", {"sku-1"}));
  const auto reviewed = world.deliver(world.order("3", "Cleo", {"sku-1"}));
  const auto failed = world.deliver(world.order("4", "Dora", {"sku-1"}));
  ask(OrderEvent::Kind::customer_redact, {"1", "2", "3", "4"});
  // As a program of before brought them back.
  world.write([&](Tx& tx) {
    DeliverySet set(tx, world.changes);
    for (const auto id : {reviewed, failed}) {
      auto& row = *set.delivery(id);
      set.apply(row, {.cause = domain::Cause::reopened});
      if (id == reviewed) continue;
      set.apply(row, {.cause = domain::Cause::approved});
      set.apply(row, {.cause = domain::Cause::known_cause, .code = domain::ResolutionCode::username_missing});
    }
    set.save();
  });
  const auto answer_of = [](const Expected<DeliveryView>& done) {
    return done ? "taken" : done.error().code + " " + done.error().message;
  };
  const std::string refusal =
      "INVALID_TRANSITION The buyer's personal data was removed: there is nobody to deliver to.";
  for (const auto id : {completed, ended, reviewed, failed}) {
    const auto before = world.status(id);
    EXPECT_EQ(answer_of(world.await(actions.reopen(world.scheduler, by, id))), refusal) << before;
    EXPECT_EQ(answer_of(world.await(actions.approve(world.scheduler, by, id))), refusal) << before;
    EXPECT_EQ(answer_of(world.await(actions.complete(world.scheduler, by, id))), refusal) << before;
    EXPECT_EQ(answer_of(world.await(actions.retry(world.scheduler, by, id, {}))), refusal) << before;
    EXPECT_EQ(answer_of(world.await(actions.retry(world.scheduler, by, id, "Eve"))), refusal) << before;
    for (const auto action : {domain::MerchantAction::retry, domain::MerchantAction::approve}) {
      const auto one_of_many = [&] {
        world.write([&](Tx& tx) {
          actions.act_in(tx, world.account, id, {.action = action}, [](const auto&) { return true; });
        });
      };
      EXPECT_THROW(one_of_many(), Error) << before;
    }
    EXPECT_EQ(world.status(id), before);
  }
  const auto allowed = [&](DeliveryId id) {
    return world.await(actions.get(world.scheduler, by, id)).value().allowed;
  };
  using enum domain::MerchantAction;
  EXPECT_THAT(allowed(ended), ::testing::IsEmpty());
  EXPECT_THAT(allowed(completed), ::testing::ElementsAre(invalidate, revoke)) << "what was shared is";
  EXPECT_THAT(allowed(reviewed), ::testing::ElementsAre(invalidate));
  EXPECT_EQ(everything().find("Eve"), std::string::npos);
}

TEST_F(Privacy, ACustomerKeepsTheirNameWhileAnotherDeliveryHasIt) {
  const auto one = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto other = world.deliver(world.order("2", "Ann", {"sku-2"}));
  const auto customer = world.delivery(one).customer;
  ASSERT_EQ(world.delivery(other).customer, customer);
  ask(OrderEvent::Kind::customer_redact, {"1"}, "one");
  EXPECT_EQ(customer_name(customer), "Ann");
  ask(OrderEvent::Kind::customer_redact, {"2"}, "two");
  EXPECT_EQ(customer_name(customer), " erased " + to_string(customer));
}

TEST_F(Privacy, TheNameBeforeACorrectionIsErasedToo) {
  world.cloud.unknown_users = {"Ann-Old"};
  const auto id = world.deliver(world.order("1", "Ann-Old", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Ann-New")));
  world.settle();
  ASSERT_EQ(world.status(id), "completed");
  ASSERT_NE(everything().find("Ann-Old"), std::string::npos);
  ask(OrderEvent::Kind::customer_redact, {"1"});
  EXPECT_EQ(everything().find("Ann"), std::string::npos) << everything();
}

TEST_F(Privacy, AFileThatACompletedOrderOwesUntilItIsPaidNamesNobodyAnyMore) {
  const auto event = [&](int minute, domain::Payment payment) {
    auto order = testing::later(world, "1", {"sku-1", "sku-2"}, minute);
    order.payment = payment;
    return order;
  };
  world.cloud.unknown_files = {"file-2"};
  const auto id = world.deliver(event(0, domain::Payment::deliver));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  world.accept(event(1, domain::Payment::cancelled));
  world.accept(event(2, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "completed");
  ASSERT_EQ(world.items(id).at(1).status, domain::ItemStatus::owed);
  ASSERT_EQ(world.items(id).at(1).username, "Ann");
  ask(OrderEvent::Kind::customer_redact, {"1"});
  EXPECT_EQ(world.items(id).at(1).status, domain::ItemStatus::dropped);
  EXPECT_EQ(everything().find("Ann"), std::string::npos) << everything();
}

TEST_F(Privacy, ASummaryOfAttemptsIsNoPersonalField) {
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  static constexpr storage::Sql kSummaries{
      "SELECT count(*) FROM delivery_timeline WHERE data = 'x' AND type = 'summary'"};
  static constexpr storage::Sql kOthers{
      "SELECT count(*) FROM delivery_timeline WHERE data = 'x' AND type <> 'summary'"};
  const auto count = [&](const storage::Sql& sql) {
    return world.write(
        [&](Tx& tx) { return tx.one(sql, [](const storage::Row& r) { return r.int64(0); }).value(); });
  };
  world.write([&](Tx& tx) {
    tx.exec(
        {"UPDATE delivery_timeline SET data = 'x', type = 'summary' WHERE id = (SELECT max(id) FROM"
         " delivery_timeline)"});
    tx.exec({"UPDATE delivery_timeline SET data = 'x' WHERE type <> 'summary'"});
  });
  ASSERT_EQ(count(kSummaries), 1);
  ASSERT_GT(count(kOthers), 0);
  ask(OrderEvent::Kind::customer_redact, {"1"});
  EXPECT_EQ(count(kSummaries), 1);
  EXPECT_EQ(count(kOthers), 0);
}

TEST_F(Privacy, WhoWasErasedCanBuyAgain) {
  const auto erased = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ask(OrderEvent::Kind::customer_redact, {"1"});
  const auto again = world.deliver(world.order("2", "Ann", {"sku-1", "sku-2"}));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(again), "completed");
  EXPECT_EQ(world.delivery(erased).username, "");
  EXPECT_EQ(world.cloud.shares.size(), 2U);
  testing::expect_books_balance(world);
}

TEST_F(Privacy, ManyOrdersAreErasedBatchByBatchBeforeTheAnswer) {
  std::vector<std::string> ids;
  for (int i = 0; i < 500; ++i) {
    ids.push_back("order-" + std::to_string(i));
    if (i % 2 == 0) world.accept(world.order(ids.back(), "Ann", {"sku-1"}));
  }
  const auto before = world.async_db.stats().commits;
  ask(OrderEvent::Kind::customer_redact, ids);
  EXPECT_EQ(everything().find("Ann"), std::string::npos);
  EXPECT_EQ(world.async_db.stats().commits - before, 2 + (250 + kEraseBatch - 1) / kEraseBatch)
      << "kept, its pieces, ended";
  ASSERT_EQ(requests().size(), 1U);
  EXPECT_EQ(requests()[0].orders, 500);
  EXPECT_TRUE(requests()[0].carried_out_at);
}

// Spec 8.6.
TEST_F(Privacy, AnAccountHasAFewRequestsUnderWayAtOneTime) {
  auto snapshot = world.await(world.directory.find(world.scheduler, world.integration)).value();
  std::vector<std::string> answers;
  const auto begin = [&] {
    const std::vector<std::byte> payload(1, std::byte{static_cast<unsigned char>(answers.size())});
    spawn(world.intake.accept(world.scheduler,
                              {snapshot, request(OrderEvent::Kind::customer_redact, {"1"}), payload, {}}),
          [&](auto outcome) { answers.push_back(*outcome.value ? "ok" : outcome.value->error().code); });
  };
  for (int i = 0; i <= kMostPrivacyRequests; ++i) begin();
  EXPECT_EQ(answers, std::vector<std::string>{"OVERLOADED"});
  world.settle();
  EXPECT_EQ(std::ranges::count(answers, "ok"), kMostPrivacyRequests);
  begin();
  world.settle();
  EXPECT_EQ(answers.back(), "ok");
}

TEST_F(Privacy, ARequestThatIsSentAgainIsCarriedOutAgainAndKeptOnce) {
  const auto first = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  ask(OrderEvent::Kind::customer_redact, {"1", "2"});
  const auto entries = [&] {
    return world.write([&](Tx& tx) { return find_timeline(tx, first, 100).size(); });
  };
  const auto before = entries();
  world.accept(world.order("2", "Ann", {"sku-1"}));
  ask(OrderEvent::Kind::customer_redact, {"1", "2"});
  EXPECT_EQ(everything().find("Ann"), std::string::npos) << everything();
  EXPECT_EQ(requests().size(), 1U);
  EXPECT_EQ(entries(), before) << "what is erased is not ended again";
}

TEST_F(Privacy, AShopThatComesAgainIsErasedAgain) {
  ShopErasure erasure(world.scheduler, world.async_db, world.changes, world.log);
  erasure.start();
  for (const auto* order : {"1", "2"}) {
    world.accept(world.order(order, "Ann", {"sku-1"}));
    ask(OrderEvent::Kind::shop_redact);
    if (order[0] == '1') ask(OrderEvent::Kind::shop_redact);  // sent again before it is carried out
    erasure.wake();
    world.settle();
    EXPECT_EQ(everything().find("Ann"), std::string::npos) << order;
  }
  ASSERT_EQ(requests().size(), 2U) << "each has its record";
  for (const auto& request : requests()) EXPECT_TRUE(request.carried_out_at);
  EXPECT_GT(requests()[0].id, requests()[1].id);
  bool stopped = false;
  erasure.stop([&] { stopped = true; });
  world.scheduler.run();
  EXPECT_TRUE(stopped);
}

TEST_F(Privacy, ARequestForDataIsKeptForTheMerchant) {
  EXPECT_EQ(ask(OrderEvent::Kind::data_request, {"7", "8"}).reason, "privacy_request_received");
  EXPECT_EQ(ask(OrderEvent::Kind::data_request, {}, "another buyer").reason, "privacy_request_received");
  ASSERT_EQ(requests().size(), 2U);
  EXPECT_EQ(requests()[1].kind, PrivacyKind::data_request);
  EXPECT_EQ(requests()[1].orders, 2);
  EXPECT_TRUE(requests()[1].carried_out_at);
  EXPECT_FALSE(requests()[1].closed_at);
}

TEST_F(Privacy, AShopIsErasedInBatchesAndGoesOnWhereItWas) {
  for (int i = 0; i < 450; ++i) world.accept(world.order("order-" + std::to_string(i), "Ann", {"sku-1"}));
  const auto other = world.add_tenant("m-2");
  world.accept(other.integration, world.order("1", "Bob", {"sku-1"}));
  EXPECT_EQ(ask(OrderEvent::Kind::shop_redact).reason, "privacy_request_received");
  EXPECT_NE(everything().find("Ann"), std::string::npos) << "after the answer";
  // A process that dies in the middle: one batch is done.
  {
    auto dying = std::make_unique<ShopErasure>(world.scheduler, world.async_db, world.changes, world.log);
    bool stopped = false;
    dying->start();
    dying->stop([&] { stopped = true; });
    for (int i = 0; i < 100 && !stopped; ++i) world.scheduler.run();
    ASSERT_TRUE(stopped);
  }
  EXPECT_EQ(requests()[0].orders, static_cast<std::int64_t>(kEraseBatch));
  EXPECT_FALSE(requests()[0].carried_out_at);

  ShopErasure erasure(world.scheduler, world.async_db, world.changes, world.log);
  erasure.start();
  world.settle();
  const auto text = everything();
  EXPECT_EQ(text.find("Ann"), std::string::npos);
  EXPECT_EQ(text.find("buyer@example.com", 0) == std::string::npos, false) << "another merchant's buyer";
  EXPECT_NE(text.find("Bob"), std::string::npos);
  ASSERT_EQ(requests().size(), 1U);
  EXPECT_EQ(requests()[0].orders, 450);
  EXPECT_TRUE(requests()[0].carried_out_at);
  bool stopped = false;
  erasure.stop([&] { stopped = true; });
  world.scheduler.run();
  EXPECT_TRUE(stopped);
}

// One shop that cannot be erased, or that is large, keeps no other waiting.
TEST_F(Privacy, ShopsTakeTurnsAndOneThatCannotBeErasedIsNamedAndLeftAloneForAWhile) {
  const auto broken = world.deliver(world.order("bad", "Ann", {"sku-1"}));
  ask(OrderEvent::Kind::shop_redact);
  const auto first = requests()[0].id;
  const auto add = [&](const std::string& cloud_user, int orders) {
    const auto tenant = world.add_tenant(cloud_user);
    for (int i = 0; i < orders; ++i)
      world.accept(tenant.integration, world.order("o" + std::to_string(i), "Bob", {"sku-1"}));
    auto snapshot = world.await(world.directory.find(world.scheduler, tenant.integration)).value();
    world
        .await(world.intake.accept(world.scheduler,
                                   {snapshot, request(OrderEvent::Kind::shop_redact), {std::byte{1}}, {}}))
        .value();
    return tenant.account;
  };
  const auto large = add("m-2", 450);
  const auto small = add("m-3", 1);
  const auto request_of = [&](AccountId account) {
    return world.write([&](Tx& tx) {
      return list_privacy_requests(tx, account, storage::PageRequest{.limit = 1}).rows.at(0);
    });
  };
  std::string state;
  world.write([&](Tx& tx) {
    tx.query({"SELECT state FROM orders WHERE id = $1"}, broken,
             [&](const storage::Row& r) { state = r.string(0); });
    tx.exec({"UPDATE orders SET state = '{' WHERE id = $1"}, broken);
  });
  ShopErasure erasure(world.scheduler, world.async_db, world.changes, world.log);
  erasure.start();
  world.scheduler.run();
  EXPECT_TRUE(request_of(small).carried_out_at);
  EXPECT_TRUE(request_of(large).carried_out_at);
  EXPECT_EQ(request_of(large).orders, 450);
  EXPECT_FALSE(request_of(world.account).carried_out_at);
  EXPECT_NE(world.log.text.find(to_string(first)), std::string::npos) << "the log names it";

  const auto lines = [&] { return std::ranges::count(world.log.text, '\n'); };
  const auto before = lines();
  world.settle(std::chrono::minutes{9});
  EXPECT_EQ(lines(), before) << "it is left alone";
  world.write([&](Tx& tx) { tx.exec({"UPDATE orders SET state = $2 WHERE id = $1"}, broken, state); });
  world.settle(std::chrono::minutes{3});
  EXPECT_TRUE(request_of(world.account).carried_out_at);
  bool stopped = false;
  erasure.stop([&] { stopped = true; });
  world.scheduler.run();
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace presetbridge::services
