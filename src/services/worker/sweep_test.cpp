// Friend sweeps (spec 3.5): what they hear, and what they end.
#include "services/worker/sweep.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST(Sweep, WaitsForTheAcceptanceThatASweepSees) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.count("friendship"), 1) << "waiting is the sweeps' work";
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  expect_books_balance(world);
}

TEST(Sweep, FailsWithTheCodeOfWhatTheCustomerDid) {
  const std::pair<cloud::FriendshipState, const char*> cases[] = {
      {cloud::FriendshipState::declined, "failed friend_request_declined"},
      {cloud::FriendshipState::blocked, "failed blocked_by_customer"}};
  for (const auto& [state, expected] : cases) {
    World world;
    world.cloud.auto_accept = false;
    const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
    world.cloud.change("u-ann", state);
    world.settle(std::chrono::minutes{2});
    EXPECT_EQ(world.status(id), expected);
  }
}

TEST(Sweep, GivesUpWaitingAfterFourteenDaysAndResumesOnALateAcceptance) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::days{15});
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(Sweep, AsksAgainWhenAnAcceptedFriendshipEndedBeforeTheShare) {
  World world(WorkerOptions{.jobs_per_minute = 0, .poll = std::chrono::minutes{1}});
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  // Two sweeps' worth of news at once: accepted, and ended before the share had its turn.
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::fail : Fate::answer; };
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  world.cloud.change("u-ann", cloud::FriendshipState::none);
  world.cloud.before = nullptr;
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// A row for which this holds cannot be written: computing the index overflows.
void refuse_to_write(World& world, const std::string& table, const std::string& condition) {
  world.write([&](storage::Tx& tx) {
    tx.exec_script("CREATE INDEX planted ON " + table + " (abs(CASE WHEN " + condition +
                   " THEN -9223372036854775807 - 1 ELSE 0 END));");
  });
}

TEST(Sweep, ARowThatCannotBeReadKeepsTheNewsOfNoOtherCustomer) {
  World world;
  world.cloud.auto_accept = false;
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto bob = world.deliver(world.order("2", "Bob", {"sku-1"}));
  world.spoil(ann);
  world.cloud.accept("u-ann");
  world.cloud.accept("u-bob");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(bob), "completed");
  EXPECT_TRUE(world.log.text.contains("what a sweep told of one customer could not be written"))
      << world.log.text;
  // The full sweep of the day tells it again.
  world.mend(ann);
  world.settle(std::chrono::hours{25});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Sweep, OneWhoseEndCannotBeWrittenIsToldOfAndMadeAgain) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  refuse_to_write(world, "cloud_accounts", "last_sweep_at IS NOT NULL");
  world.settle(std::chrono::minutes{1});
  EXPECT_TRUE(world.log.text.contains("a sweep could not be ended; its lease runs out")) << world.log.text;
  world.write([](storage::Tx& tx) { tx.exec_script("DROP INDEX planted;"); });
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Sweep, OneThatCouldNotBeginDoesNotCountAsMade) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::seconds{45});
  const auto before = world.queue();
  world.write([](storage::Tx& tx) { tx.exec_script("ALTER TABLE accounts RENAME TO elsewhere;"); });
  world.settle(std::chrono::seconds{30});
  EXPECT_TRUE(world.log.text.contains("a sweep could not begin")) << world.log.text;
  EXPECT_EQ(world.queue().last_sweep_at, before.last_sweep_at);
  world.write([](storage::Tx& tx) { tx.exec_script("ALTER TABLE elsewhere RENAME TO accounts;"); });
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Sweep, ARefusedLoginThatCannotBeWrittenIsToldOf) {
  World world;
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  refuse_to_write(world, "accounts", "credentials_status = 'invalid'");
  world.agent.refuse = true;
  world.sessions->invalidate(world.account);
  world.settle(std::chrono::seconds{70});
  EXPECT_TRUE(world.log.text.contains("that a login was refused could not be written")) << world.log.text;
  world.write([](storage::Tx& tx) { tx.exec_script("DROP INDEX planted;"); });
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.standing(world.account).status, storage::CredentialsStatus::invalid);
}

}  // namespace
}  // namespace presetbridge::services
