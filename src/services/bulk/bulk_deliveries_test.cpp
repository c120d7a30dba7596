// Retry, approve and invalidate many deliveries at once (spec 9.4).
#include "services/bulk/bulk_deliveries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "services/testing.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::DeliveryStatus;
using domain::MerchantAction;
using ::testing::Contains;
using testing::expect_books_balance;
using testing::FakeCloud;
using ::testing::IsEmpty;
using testing::later;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using testing::World;

class BulkDeliveriesTest : public ::testing::Test {
 protected:
  using Worker = std::unique_ptr<BulkWorker>;
  Worker start() {
    std::vector<BulkAction*> actions;
    for (auto* const action : bulk.actions()) actions.push_back(action);
    auto worker = std::make_unique<BulkWorker>(world.scheduler, world.async_db, world.log, std::move(actions),
                                               [this] { world.worker->wake(); });
    worker->start();
    return worker;
  }
  void stop(Worker& worker) {
    bool stopped = false;
    worker->stop([&] { stopped = true; });
    world.settle();
    EXPECT_TRUE(stopped);
    worker.reset();
  }
  Expected<BulkDeliveriesPlan> try_ask(const identity::Principal& by, MerchantAction action,
                                       DeliveriesChosen chosen, bool dry_run = false) {
    return world.await(bulk.ask(world.scheduler, by, std::move(chosen),
                                {.action = action, .reason = "Ordered by mistake."}, dry_run));
  }
  BulkDeliveriesPlan ask(MerchantAction action, DeliveriesChosen chosen, bool dry_run = false) {
    return try_ask(world.merchant(), action, std::move(chosen), dry_run).value();
  }
  static DeliveriesChosen with(storage::DeliveryFilter filter) {
    return {.ids = {}, .filter = std::move(filter), .as_of = {}};
  }
  static DeliveriesChosen failed() { return with({.statuses = {DeliveryStatus::failed}}); }
  storage::BulkJobRow row(BulkJobId id) {
    return world.write([&](storage::Tx& tx) { return find_bulk_job(tx, id).value(); });
  }
  // A caller with an active key.
  identity::Principal with_key() {
    auto by = world.merchant();
    by.key = world.ids.make<ApiKeyId>();
    world.write([&](storage::Tx& tx) {
      insert_api_key(tx,
                     {.id = *by.key,
                      .account = world.account,
                      .name = "Shop",
                      .preview = "pdb_live_",
                      .permissions = "deliveries:write",
                      .rate_limit = 100},
                     std::as_bytes(std::span(&by.key->value, 1)));
    });
    return by;
  }
  void run_until(BulkJobId job, std::int64_t done) {
    for (int i = 0; row(job).done < done; ++i) {
      ASSERT_LT(i, 20'000);
      if (!world.scheduler.run_one()) world.database.clock.set(world.database.clock.now() + Millis{1'000});
    }
  }
  // Deliveries that the platform has refused.
  std::vector<DeliveryId> rejected(int many) {
    world.cloud.before = [](const std::string& call, const std::string&) {
      return call == "share" ? FakeCloud::Fate::reject : FakeCloud::Fate::answer;
    };
    std::vector<DeliveryId> ids;
    for (int i = 0; i < many; ++i) {
      const auto n = std::to_string(i);
      ids.push_back(world.accept(world.order("r" + n, "buyer" + n, {"sku-1"})).delivery.value());
    }
    world.settle();
    world.cloud.before = {};
    for (const auto id : ids) EXPECT_EQ(world.status(id), "failed cloud_rejected");
    return ids;
  }
  std::int64_t acted(DeliveryId id, const domain::Actor& actor) {
    return world.write([&](storage::Tx& tx) {
      std::int64_t times = 0;
      for (const auto& entry : find_timeline(tx, id, 100)) times += entry.actor == to_string(actor) ? 1 : 0;
      return times;
    });
  }

  struct InReview {
    DeliveryId held, reopened, unpaid, risky;
  };
  InReview all_in_review() {
    InReview in;
    world.cloud.auto_accept = false;
    in.reopened = world.deliver(later(world, "1", {"sku-1"}, 1));
    EXPECT_TRUE(world.await(world.actions.invalidate(world.scheduler, world.merchant(), in.reopened, "x")));
    EXPECT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), in.reopened)));
    in.unpaid = world.deliver(later(world, "2", {"sku-1"}, 1));
    withdraw("2");
    in.risky = world.deliver(later(world, "3", {"sku-1"}, 1));
    domain::OrderEvent risk{
        .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "3"};
    risk.high_risk = true;
    world.accept(risk);
    world.write([&](storage::Tx& tx) {
      auto store = *lock_integration(tx, world.integration);
      store.hold_all = true;
      update_integration(tx, store);
    });
    in.held = world.accept(later(world, "4", {"sku-1"}, 1)).delivery.value();
    for (const auto id : {in.held, in.reopened, in.unpaid, in.risky})
      EXPECT_EQ(world.status(id), "in_review");
    return in;
  }
  void withdraw(const std::string& order) {
    auto unpaid = later(world, order, {"sku-1"}, 2);
    unpaid.payment = domain::Payment::awaiting_payment;
    world.accept(unpaid);
  }

  World world;
  BulkJobs jobs{world.async_db, world.ids, [] {}};
  BulkDeliveries bulk{world.async_db, world.actions, jobs};
};

TEST_F(BulkDeliveriesTest, EachIsRetriedOnceWhateverIsKilledAndHoweverManyWork) {
  constexpr int kMany = 130;
  const auto ids = rejected(kMany);
  const auto by = with_key();
  const auto plan = try_ask(by, MerchantAction::retry, failed()).value();
  EXPECT_EQ(plan.eligible, kMany);
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start());
  run_until(plan.job.id, 20);
  workers[0]->stop([] {});
  run_until(plan.job.id, 70);
  workers[1]->stop([] {});
  world.settle(std::chrono::minutes{1});
  const auto ended = row(plan.job.id);
  ASSERT_TRUE(ended.finished_at);
  EXPECT_EQ(ended.done, kMany);
  EXPECT_EQ(ended.failed, 0);
  EXPECT_EQ(ended.filter, "{}");
  for (const auto id : ids) {
    EXPECT_EQ(world.status(id), "completed");
    EXPECT_EQ(acted(id, by.actor()), 1);
  }
  stop(workers[2]);
  expect_books_balance(world);
}

// Decision 38: an account's deletion erases a minute later what was on its way.
TEST_F(BulkDeliveriesTest, AJobOfTheFutureWaitsForItsTime) {
  const auto ids = rejected(1);
  const auto plan = ask(MerchantAction::retry, failed());
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE bulk_jobs SET as_of = $1"}, tx.now() + std::chrono::minutes{1});
  });
  auto worker = start();
  world.settle(std::chrono::seconds{50});
  EXPECT_FALSE(row(plan.job.id).finished_at);
  EXPECT_EQ(world.status(ids[0]), "failed cloud_rejected");
  world.settle(std::chrono::seconds{15});
  EXPECT_TRUE(row(plan.job.id).finished_at);
  EXPECT_EQ(world.status(ids[0]), "completed");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, TheThreeActionsDoWhatTheirOwnOperationsDo) {
  const auto ids = rejected(2);
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), ids[0])));
  auto worker = start();
  const auto approved = ask(MerchantAction::approve, with({}));
  EXPECT_EQ(approved.total, 2);
  EXPECT_EQ(approved.eligible, 1);
  EXPECT_THAT(approved.excluded, UnorderedElementsAre(Pair("INVALID_TRANSITION", 1)));
  world.settle();
  EXPECT_EQ(world.status(ids[0]), "completed");
  EXPECT_EQ(world.status(ids[1]), "failed cloud_rejected");
  ask(MerchantAction::invalidate, failed());
  world.settle();
  EXPECT_EQ(world.status(ids[1]), "invalidated");
  EXPECT_EQ(world.delivery(ids[1]).reason, "Ordered by mistake.");
  EXPECT_EQ(world.status(ids[0]), "completed") << "it is not what was chosen";
  stop(worker);
}

TEST_F(BulkDeliveriesTest, AnApprovalOfAllInReviewTakesNoGraverReasonsUnseen) {
  const auto in = all_in_review();
  const auto in_review = with({.statuses = {DeliveryStatus::in_review}});
  const auto all = ask(MerchantAction::approve, in_review, true);
  EXPECT_EQ(all.total, 4);
  EXPECT_EQ(all.eligible, 2);
  EXPECT_THAT(all.excluded, UnorderedElementsAre(Pair("payment_withdrawn", 1), Pair("high_risk", 1)));
  const std::vector named{in.held, in.unpaid, in.risky};
  EXPECT_THAT(ask(MerchantAction::approve, {.ids = named, .filter = {}, .as_of = {}}, true).excluded,
              UnorderedElementsAre(Pair("payment_withdrawn", 1), Pair("high_risk", 1)));
  auto worker = start();
  const auto job = ask(MerchantAction::approve, in_review).job;
  world.settle();
  EXPECT_EQ(row(job.id).done, 2);
  EXPECT_EQ(row(job.id).failed, 0);
  EXPECT_NE(world.status(in.held), "in_review");
  EXPECT_NE(world.status(in.reopened), "in_review");
  EXPECT_EQ(world.status(in.unpaid), "in_review");
  EXPECT_EQ(world.status(in.risky), "in_review");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, AGraverReasonThatIsNamedIsApproved) {
  const auto in = all_in_review();
  const auto named = with({.reviews = {domain::ReviewReason::payment_withdrawn}});
  const auto plan = ask(MerchantAction::approve, named, true);
  EXPECT_EQ(plan.total, 1);
  EXPECT_EQ(plan.eligible, 1);
  auto worker = start();
  const auto job = ask(MerchantAction::approve, named).job;
  world.settle();
  EXPECT_EQ(row(job.id).done, 1);
  EXPECT_NE(world.status(in.unpaid), "in_review");
  for (const auto id : {in.held, in.reopened, in.risky}) EXPECT_EQ(world.status(id), "in_review");
  ask(MerchantAction::invalidate, with({.reviews = {domain::ReviewReason::high_risk}}));
  world.settle();
  EXPECT_EQ(world.status(in.risky), "invalidated");
  EXPECT_EQ(world.status(in.held), "in_review");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, OneWhoseReasonBecameGraverMeanwhileIsNotApproved) {
  const auto in = all_in_review();
  auto& action = *bulk.actions()[1];
  ASSERT_EQ(action.name(), "deliveries.approve");
  const auto reasons = [&](const char* all) {
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE deliveries SET review_reasons = $2 WHERE id = $1"}, in.held, all);
    });
  };
  for (const auto& chosen :
       {with({.statuses = {DeliveryStatus::in_review}}), with({.reviews = {domain::ReviewReason::held}}),
        DeliveriesChosen{.ids = {in.held}, .filter = {}, .as_of = {}}}) {
    const auto job = ask(MerchantAction::approve, chosen).job;
    const auto find = [&] {
      return world.write([&](storage::Tx& tx) { return action.find(tx, job, 10).ids; });
    };
    // The payment of the held one is withdrawn between the search and its turn.
    EXPECT_THAT(find(), Contains(in.held.value));
    reasons("payment_withdrawn,held");
    const auto act = world.await(action.prepare(world.scheduler, job, in.held.value)).value();
    const auto done = world.await(world.async_db.write(world.scheduler, [&](storage::Tx& tx) { act(tx); }));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "INVALID_TRANSITION");
    EXPECT_EQ(world.status(in.held), "in_review");
    EXPECT_THAT(find(), Not(Contains(in.held.value)));
    reasons("held");
  }
}

TEST_F(BulkDeliveriesTest, WhatHasToBeMendedFirstIsLeftOutOfARetry) {
  rejected(2);
  const auto nameless = world.deliver(world.order("nameless", "", {"sku-1"}));
  EXPECT_EQ(world.status(nameless), "failed username_missing");
  world.deliver(world.order("done", "Ann", {"sku-1"}));
  const auto plan = ask(MerchantAction::retry, with({}), true);
  EXPECT_EQ(plan.total, 4);
  EXPECT_TRUE(plan.total_is_exact);
  EXPECT_EQ(plan.eligible, 2);
  EXPECT_THAT(plan.excluded,
              UnorderedElementsAre(Pair("username_missing", 1), Pair("INVALID_TRANSITION", 1)));
  EXPECT_FALSE(plan.job.id) << "nothing was asked for";
  auto worker = start();
  const auto job = ask(MerchantAction::retry, with({})).job;
  world.settle();
  EXPECT_EQ(row(job.id).done, 2);
  EXPECT_EQ(row(job.id).failed, 0);
  EXPECT_EQ(row(job.id).eligible, 2);
  EXPECT_EQ(world.status(nameless), "failed username_missing");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, TheCostIsReturnedBefore) {
  rejected(2);
  // One of its two files is shared already.
  world.cloud.before = [shared = 0](const std::string& call, const std::string&) mutable {
    return call == "share" && ++shared > 1 ? FakeCloud::Fate::reject : FakeCloud::Fate::answer;
  };
  const auto half = world.deliver(world.order("half", "Ann", {"sku-1", "sku-2"}));
  world.cloud.before = {};
  EXPECT_EQ(world.status(half), "failed cloud_rejected");
  world.deliver(world.order("nameless", "", {"sku-1"}));
  const auto plan = ask(MerchantAction::retry, with({}), true);
  EXPECT_EQ(plan.eligible, 3);
  EXPECT_EQ(plan.cost.credits, 3);
  EXPECT_TRUE(plan.cost.exact);
  EXPECT_EQ(ask(MerchantAction::retry, {.ids = {half}, .filter = {}, .as_of = {}}, true).cost.credits, 1);
  EXPECT_EQ(ask(MerchantAction::invalidate, with({}), true).cost.credits, 0);
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), half)));
  EXPECT_EQ(ask(MerchantAction::approve, with({}), true).cost.credits, 1);
}

TEST_F(BulkDeliveriesTest, OfNamedOnesThoseAloneThatTheCallerSees) {
  const auto ids = rejected(3);
  const auto other = world.add_tenant("m-2");
  auto stranger = world.merchant();
  stranger.account = other.account;
  const auto nothing =
      try_ask(stranger, MerchantAction::retry, {.ids = ids, .filter = {}, .as_of = {}}).value();
  EXPECT_EQ(nothing.eligible, 0);
  EXPECT_THAT(nothing.excluded, UnorderedElementsAre(Pair("NOT_FOUND", 3)));
  auto limited = world.merchant();
  limited.integrations = identity::IntegrationScope({other.integration});
  EXPECT_EQ(try_ask(limited, MerchantAction::retry, failed()).value().total, 0);
  auto worker = start();
  world.settle();
  for (const auto id : ids) EXPECT_EQ(world.status(id), "failed cloud_rejected");
  const auto mine = ask(MerchantAction::retry, {.ids = {ids[2], ids[0], ids[2]}, .filter = {}, .as_of = {}});
  EXPECT_EQ(mine.total, 2);
  world.settle();
  EXPECT_EQ(row(mine.job.id).done, 2);
  EXPECT_EQ(world.status(ids[0]), "completed");
  EXPECT_EQ(world.status(ids[1]), "failed cloud_rejected");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, WhatCameAfterTheTimeThatIsPinnedIsNotMeant) {
  rejected(2);
  auto chosen = failed();
  chosen.as_of = world.database.clock.now();
  world.settle(Millis{5'000});
  world.cloud.before = [](const std::string& call, const std::string&) {
    return call == "share" ? FakeCloud::Fate::reject : FakeCloud::Fate::answer;
  };
  const auto late = world.deliver(world.order("late", "late", {"sku-1"}));
  world.cloud.before = {};
  EXPECT_EQ(ask(MerchantAction::retry, failed(), true).total, 3);
  auto worker = start();
  const auto plan = ask(MerchantAction::retry, chosen);
  EXPECT_EQ(plan.total, 2);
  world.settle();
  EXPECT_EQ(row(plan.job.id).done, 2);
  EXPECT_EQ(world.status(late), "failed cloud_rejected");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, OneThatIsNotWhatWasChosenAnyMoreIsLeftAsItIs) {
  const auto ids = rejected(2);
  const auto job = ask(MerchantAction::invalidate, failed()).job;
  auto& action = *bulk.actions()[2];
  ASSERT_EQ(action.name(), "deliveries.invalidate");
  const auto found = world.write([&](storage::Tx& tx) { return action.find(tx, job, 10); });
  EXPECT_THAT(found.ids, SizeIs(2));
  // Between the search and its turn somebody has it delivered.
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), ids[1], {})));
  world.settle();
  const auto act = world.await(action.prepare(world.scheduler, job, ids[1].value)).value();
  const auto done = world.await(world.async_db.write(world.scheduler, [&](storage::Tx& tx) { act(tx); }));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "INVALID_TRANSITION");
  EXPECT_EQ(world.status(ids[1]), "completed");
}

TEST_F(BulkDeliveriesTest, AJobWhoseChoiceCannotBeReadEndsAndSaysWhy) {
  rejected(1);
  const auto job = ask(MerchantAction::retry, failed()).job;
  world.write([&](storage::Tx& tx) { tx.exec({"UPDATE bulk_jobs SET filter = '{' WHERE id = $1"}, job.id); });
  auto worker = start();
  world.settle(std::chrono::minutes{1});
  const auto ended = row(job.id);
  ASSERT_TRUE(ended.finished_at);
  EXPECT_FALSE(ended.fault.empty());
  EXPECT_EQ(ended.done, 0);
  const auto said = world.log.text.find("a job on many cannot go on");
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(world.log.text.find("a job on many cannot go on", said + 1), std::string::npos) << "said once";
  // It does not hold up another.
  const auto next = ask(MerchantAction::retry, failed()).job;
  world.settle();
  EXPECT_EQ(row(next.id).done, 1);
  EXPECT_EQ(row(next.id).fault, "");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, AJobOfAKeyEndsWhenTheKeyIsDeactivated) {
  constexpr int kMany = 210;  // more than are done in one turn
  const auto ids = rejected(kMany);
  const auto by = with_key();
  const auto job = try_ask(by, MerchantAction::invalidate, failed()).value().job;
  auto worker = start();
  run_until(job.id, 1);
  world.write([&](storage::Tx& tx) {
    auto key = *lock_api_key(tx, world.account, *by.key);
    key.active = false;
    update_api_key(tx, key);
  });
  world.settle();
  const auto ended = row(job.id);
  ASSERT_TRUE(ended.finished_at);
  EXPECT_THAT(ended.fault, ::testing::HasSubstr("stopped"));
  EXPECT_LT(ended.done, kMany);
  EXPECT_EQ(world.status(ids.back()), "failed cloud_rejected");
  stop(worker);
}

TEST_F(BulkDeliveriesTest, AMerchantsManyDoNotHoldUpAnothersFew) {
  const auto other = world.add_tenant("m-2");
  // Without a name they fail at once.
  for (int i = 0; i < 450; ++i) world.accept(world.order("a" + std::to_string(i), "", {"sku-1"}));
  for (int i = 0; i < 5; ++i)
    world.accept(other.integration, world.order("b" + std::to_string(i), "", {"sku-1"}));
  auto second = world.merchant();
  second.account = other.account;
  const auto many = ask(MerchantAction::invalidate, failed()).job;
  const auto few = try_ask(second, MerchantAction::invalidate, failed()).value().job;
  auto worker = start();
  for (int i = 0; !row(few.id).finished_at; ++i) {
    ASSERT_LT(i, 20'000);
    ASSERT_TRUE(world.scheduler.run_one());
  }
  EXPECT_EQ(row(few.id).done, 5);
  EXPECT_FALSE(row(many.id).finished_at);
  EXPECT_LT(row(many.id).done, 450);
  stop(worker);
}

}  // namespace
}  // namespace presetbridge::services
