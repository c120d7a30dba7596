// The delivery worker from an order to its end (spec 3.2), in virtual time.
#include "services/worker/delivery_worker.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST(DeliveryWorker, RequestsFriendshipSharesEachFileAndSpendsOneCreditAFile) {
  World world;
  const auto id = world.deliver(world.order("1001", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  EXPECT_EQ(world.balance().spent, 2);
  expect_books_balance(world);
}

TEST(DeliveryWorker, ServesTwoOrdersOfOneBuyerWithOneRequestAndSharesAFileOnce) {
  World world;
  world.cloud.auto_accept = false;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "Ann", {"sku-1", "sku-2"}));
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(a), "completed");
  EXPECT_EQ(world.status(b), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::already_shared);
  expect_books_balance(world);
}

TEST(DeliveryWorker, MeetsABuyerKnownUnderAnotherSpellingAsTheSameCustomer) {
  World world;
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "ANN", {"sku-2"}));
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(b), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  expect_books_balance(world);
}

TEST(DeliveryWorker, FailsAnUnknownUsernameAndDeliversUnderTheCorrectedOne) {
  World world;
  world.cloud.unknown_users = {"Anm"};
  const auto id = world.deliver(world.order("1", "Anm", {"sku-1"}));
  EXPECT_EQ(world.status(id), "failed username_not_found");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Ann")));
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-1"}), 1u);
}

TEST(DeliveryWorker, TakesBackTheRequestToTheWrongUserWhenTheUsernameIsCorrected) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Wrong", {"sku-1"}));
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Ann")));
  world.settle();
  EXPECT_EQ(world.cloud.withdrawals["u-wrong"], 1);
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(DeliveryWorker, DoesNotRepeatAFriendRequestWhoseAnswerWasLost) {
  World world;
  world.cloud.auto_accept = false;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
}

TEST(DeliveryWorker, FailsOneMissingPresetAndSharesTheOthers) {
  World world;
  world.cloud.unknown_files = {"file-1"};
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  expect_books_balance(world);
}

TEST(DeliveryWorker, BeginsTheAccountTaskThatAJobWroteWhenTheJobEnds) {
  auto options = World::unlimited();
  options.jobs_per_minute = 1;
  World world(options);
  world.agent.refuse = true;
  world.hold_queue();
  const auto first = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto second = world.accept(world.order("2", "Bea", {"sku-1"})).delivery.value();
  world.settle(Millis{1'200});
  EXPECT_EQ(world.status(first), "failed credentials_invalid");
  EXPECT_EQ(world.status(second), "failed credentials_invalid") << "no job of it may start yet";
}

TEST(DeliveryWorker, CompletesADryRunWithoutCloudAndCredits) {
  World world;
  auto event = world.order("1", "Ann", {"sku-1"});
  event.test = true;
  const auto id = world.deliver(event);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.cloud.calls.empty());
  EXPECT_EQ(world.balance().spent, 0);
}

TEST(DeliveryWorker, ADryRunThatCannotBeReadKeepsNoOtherWaiting) {
  World world(World::attentive());
  const auto accept_dry = [&](const std::string& id) {
    auto event = world.order(id, "Ann", {"sku-1"});
    event.test = true;
    return world.accept(event).delivery.value();
  };
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(accept_dry(std::to_string(i)));
  world.settle();
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE deliveries SET status = 'queued', open = 1, completed_at = NULL"});  // once more
  });
  for (const auto id : {ids[0], ids[2]}) world.spoil(id);
  const auto raw_status = [&](DeliveryId id) {
    return world.write([&](storage::Tx& tx) {
      return *tx.one({"SELECT status FROM deliveries WHERE id = $1"}, id,
                     [](const storage::Row& r) { return r.string(0); });
    });
  };
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(raw_status(ids[1]), "completed");
  EXPECT_EQ(raw_status(ids[3]), "completed");
  EXPECT_EQ(raw_status(ids[0]), "queued");
  for (const auto id : {ids[0], ids[2]}) {
    const auto line = world.log.text.find("left alone for some minutes delivery=" + to_string(id));
    EXPECT_NE(line, std::string::npos) << world.log.text;
    EXPECT_EQ(world.log.text.find("delivery=" + to_string(id), line + 60), std::string::npos) << "said once";
    world.mend(id);
  }
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(raw_status(ids[0]), "completed");
  EXPECT_EQ(raw_status(ids[2]), "completed");
}

TEST(DeliveryWorker, OneAccountsDryRunsDelayNoOthers) {
  World world;
  const auto other = world.add_tenant("m-2");
  world.stop_worker();
  const auto dry_run = [&](IntegrationId store, const std::string& id) {
    auto event = world.order(id, "Ann", {"sku-1"});
    event.test = true;
    return world.accept(store, event).delivery.value();
  };
  std::vector<DeliveryId> many;
  for (int i = 0; i < 450; ++i) many.push_back(dry_run(world.integration, std::to_string(i)));
  const auto one = dry_run(other.integration, "one");
  world.start_worker(World::unlimited());
  world.settle();
  EXPECT_EQ(world.status(one), "completed");
  EXPECT_EQ(world.status(many.back()), "completed");
  EXPECT_LT(world.delivery(one).completed_at, world.delivery(many[150]).completed_at)
      << "as many of each account at a time";
}

}  // namespace
}  // namespace presetbridge::services
