// The effect of a cloud account's trouble on its queue (spec 3.5).
#include "services/worker/account_trouble.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

void fail_all(World& world) {
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
}

TEST(AccountTrouble, FailsAllWhenTheLoginIsRefusedAndDoesNotTryTheLoginAgain) {
  World world;
  world.agent.refuse = true;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(a), "failed credentials_invalid");
  const auto b = world.deliver(world.order("2", "Bob", {"sku-1"}));
  EXPECT_EQ(world.status(b), "failed credentials_invalid");
  EXPECT_EQ(world.agent.logins, 1);
}

TEST(AccountTrouble, LogsInAgainWhenThePlatformEndedTheSession) {
  World world;
  bool refused = false;
  world.cloud.before = [&](auto&, auto&) { return once(refused, Fate::refuse_session); };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.agent.logins, 2);
}

TEST(AccountTrouble, PausesTheAccountOn429WithoutConsumingAttempts) {
  World world;
  bool limited = false;
  world.cloud.before = [&](auto&, auto&) { return once(limited, Fate::rate_limit); };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "queued");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(AccountTrouble, SurvivesAnOutageWithOneProbeAMinuteAndGoesOnAfterIt) {
  World world;
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::minutes{5});
  const auto calls = world.cloud.calls.size();
  world.settle(std::chrono::hours{1});
  EXPECT_LE(world.cloud.calls.size() - calls, 62u);
  world.cloud.before = nullptr;
  world.settle(std::chrono::hours{2});
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(AccountTrouble, FailsAfterThreeDaysOfOutageAndResumesWithTheNextSuccess) {
  World world;
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::hours{74});
  for (const auto id : ids) EXPECT_EQ(world.status(id), "failed cloud_unavailable");
  world.cloud.before = nullptr;
  world.settle(std::chrono::hours{2});
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
}

TEST(AccountTrouble, ASuccessfulProbeLetsTheRestGoOnAtOnce) {
  World world;
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::seconds{10});
  world.cloud.before = nullptr;
  // The probe comes a minute after the third failure; the first three failures' own retries may take two
  // more.
  world.settle(std::chrono::seconds{70});
  EXPECT_EQ(world.status(ids[3]), "completed");
}

TEST(AccountTrouble, DoesNotActAsAnotherCloudUserWhoseLoginWasSaved) {
  World world;
  world.agent.user_id = "m-2";
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.status(id), "queued");
  EXPECT_TRUE(world.cloud.calls.empty());
  world.agent.user_id = "m-1";
  world.sessions->invalidate(world.account);
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(AccountTrouble, ARefusedLoginIsNoTroubleOfAnotherTenantOfTheSameCloudAccount) {
  World world;
  const auto other = world.add_tenant("m-1");
  ASSERT_EQ(other.cloud_account, world.cloud_account);
  world.hold_queue();
  // Both are owed to one customer, so that one job has both; it begins with the first one's login.
  const auto a = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto b = world.accept(other.integration, world.order("2", "Ann", {"sku-2"})).delivery.value();
  world.agent.refused = {world.account};
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(a), "failed credentials_invalid");
  EXPECT_EQ(world.standing(world.account).status, storage::CredentialsStatus::invalid);
  EXPECT_EQ(world.standing(other.account).status, storage::CredentialsStatus::valid);
  EXPECT_EQ(world.status(b), "completed");
  EXPECT_EQ(world.delivery(b).resolution, domain::ResolutionCode::none);
}

TEST(AccountTrouble, NothingIsDecidedFromATroubleThatCannotBeRead) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  auto account = world.queue();
  account.trouble = "as you like it";
  world.write([&](storage::Tx& tx) { update_cloud_account(tx, account); });
  const auto noted = world.write([&](storage::Tx& tx) {
    note_rate_limit(tx, world.cloud_account, domain::CallKind::share, id, {});
    note_success(tx, world.cloud_account, domain::CallKind::share);
    auto customer = lock_customer(tx, find_delivery(tx, id)->customer).value();
    return note_failure(tx, customer, domain::CallKind::share, id, 1);
  });
  EXPECT_FALSE(noted.paused);
  EXPECT_TRUE(noted.retry_at);
  EXPECT_EQ(world.queue().trouble, "as you like it") << "the next lease logs and replaces it";
}

TEST(AccountTrouble, AnOutageLastsUntilTheCallThatFailedSucceeds) {
  World world;
  fail_all(world);
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob"}) ids.push_back(world.deliver(world.order(name, name, {"sku-1"})));
  world.stop_worker();
  ids.push_back(world.accept(world.order("Cid", "Cid", {"sku-1"})).delivery.value());
  const auto outage = [&] {
    return domain::in_outage(domain::decode_account_trouble(world.queue().trouble).value());
  };
  const auto note = [&](std::size_t which) {
    world.write([&](storage::Tx& tx) {
      auto customer = lock_customer(tx, find_delivery(tx, ids[which])->customer).value();
      note_failure(tx, customer, domain::CallKind::find_user, ids[which], 1);
    });
    return outage();
  };
  EXPECT_FALSE(note(0));
  EXPECT_TRUE(note(2));
  EXPECT_TRUE(note(1));
  const auto success = [&](domain::CallKind call) {
    world.write([&](storage::Tx& tx) { note_success(tx, world.cloud_account, call); });
    return outage();
  };
  EXPECT_TRUE(success(domain::CallKind::share));
  EXPECT_FALSE(success(domain::CallKind::find_user));
  world.start_worker(World::unlimited());
}

// A delivery that fails for its own reason must not be the only one that is probed.
TEST(AccountTrouble, AnOutagesProbesTryAllThatFailedInTurn) {
  World world;
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::fail : Fate::answer; };
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto bob = world.deliver(world.order("2", "Bob", {"sku-2"}));
  world.settle(std::chrono::hours{10});
  const auto due_in = [&](DeliveryId id) {
    const auto customer = world.delivery(id).customer;
    return world.write([&](storage::Tx& tx) { return find_customer(tx, customer)->due_at - tx.now(); });
  };
  constexpr Millis kFar = std::chrono::minutes{15};
  for (int i = 0; due_in(ann) < kFar || due_in(bob) < kFar; ++i) {
    ASSERT_LT(i, 1'000);
    world.settle(std::chrono::minutes{1});
  }
  const auto cid = world.deliver(world.order("3", "Cid", {"sku-3"}));
  ASSERT_EQ(domain::trouble_name(*domain::decode_account_trouble(world.queue().trouble)), "outage");
  world.cloud.before = [](auto& call, auto& file) {
    return call == "share" && file == "file-3" ? Fate::fail : Fate::answer;
  };
  world.settle(std::chrono::minutes{7});
  EXPECT_TRUE(world.status(ann) == "completed" || world.status(bob) == "completed");
  EXPECT_EQ(domain::trouble_name(*domain::decode_account_trouble(world.queue().trouble)), "");
  EXPECT_EQ(world.status(cid), "queued");
}

// The shares that nobody could look up are of customers whom the orders are not for any more, and their work
// is chosen after that of many others.
TEST(AccountTrouble, AnOutagesProbesTryTheFormerCustomersOfWhatFailed) {
  World world;
  std::vector<DeliveryId> ids;
  const auto accept_friends = [&](const std::string& order, const std::string& sku) {
    for (int i = 0; i < 20; ++i) {
      const auto number = std::to_string(i);
      ids.push_back(world.accept(world.order(order + number, "friend" + number, {sku})).delivery.value());
    }
  };
  accept_friends("known-", "sku-9");
  world.settle();
  world.cloud.before = [](auto& call, auto& file) {
    if (file > "file-3") return Fate::answer;
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  std::vector<DeliveryId> unknown;
  for (int i = 1; i <= 3; ++i) {
    const auto n = std::to_string(i);
    unknown.push_back(world.deliver(world.order(n, "Ann" + n, {"sku-" + n})));
    ASSERT_EQ(world.items(unknown.back())[0].status, domain::ItemStatus::sharing);
    // Shares succeed meanwhile: only look-ups are in trouble.
    ids.push_back(world.deliver(world.order("between-" + n, "friend0", {"sku-" + std::to_string(3 + i)})));
  }
  const auto in_outage = [&] {
    return domain::in_outage(*domain::decode_account_trouble(world.queue().trouble));
  };
  for (int i = 0; !in_outage(); ++i) {
    ASSERT_LT(i, 1'000);
    world.settle();
  }
  for (const auto id : unknown) {
    ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Dan")));
    ASSERT_EQ(world.items(id)[0].status, domain::ItemStatus::sharing);
  }
  accept_friends("again-", "sku-8");
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{5});
  EXPECT_FALSE(in_outage());
  world.settle();
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
