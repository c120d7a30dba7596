// Friend sweeps (spec 3.5): the changes that they take in, and the waiting that they end.
#include "services/worker/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Sweep, IsDueAgainOnceAnOrderWaitsForAnOldRequest) {
  World world;
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE cloud_accounts SET sweep_due_at = NULL"}); });
  const auto id = world.deliver(world.order("2", "Ann", {"sku-2"}));
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_TRUE(world.queue().sweep_due_at);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
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

TEST(Sweep, ResumesWhereTheCustomerAcceptsAfterARefusal) {
  for (const auto state : {cloud::FriendshipState::declined, cloud::FriendshipState::blocked}) {
    World world;
    world.cloud.auto_accept = false;
    const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
    world.cloud.change("u-ann", state);
    world.settle(std::chrono::minutes{2});
    ASSERT_TRUE(world.status(id).starts_with("failed ")) << world.status(id);
    world.cloud.accept("u-ann");
    world.settle(std::chrono::hours{2});
    EXPECT_EQ(world.status(id), "completed");
  }
}

TEST(Sweep, ARequestThatIsGoneIsMadeAgain) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.settle(std::chrono::hours{25});
  world.cloud.change("u-ann", cloud::FriendshipState::none);
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Sweep, ARequestThatIsGoneSoonCountsAsDeclined) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::hours{1});
  world.cloud.change("u-ann", cloud::FriendshipState::none);
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "failed friend_request_declined");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
}

TEST(Sweep, GivesUpWaitingAfterFourteenDaysAndResumesOnALateAcceptance) {
  World world({.jobs_per_minute = 0, .poll = std::chrono::hours{1}, .maintenance = std::chrono::hours{1}});
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::days{15});
  EXPECT_EQ(world.status(id), "failed friendship_timeout");
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(Sweep, ResumesOnALateAcceptanceThatAnotherOrderSawFirst) {
  World world({.jobs_per_minute = 0, .poll = std::chrono::hours{1}, .maintenance = std::chrono::hours{1}});
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto wrong = world.deliver(world.order("2", "Ann", {"sku-2"}));
  world.settle(std::chrono::days{15});
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  world.cloud.accept("u-ann");
  // The request to Ann is withdrawn: the next job looks up the friendship.
  world.await(world.actions.retry(world.scheduler, world.merchant(), wrong, "Bob")).value();
  const auto next = world.deliver(world.order("3", "Ann", {"sku-3"}));
  ASSERT_EQ(world.status(next), "completed");
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(Sweep, ARefusalOfTheRequestBeforeEndsNoNewOne) {
  World world({.jobs_per_minute = 0, .poll = std::chrono::hours{1}, .maintenance = std::chrono::hours{1}});
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::days{15});
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  world.cloud.change("u-ann", cloud::FriendshipState::declined);
  world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::nullopt)).value();
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.cloud.requests["u-ann"], 2);
}

TEST(Sweep, AsksAgainWhenAnAcceptedFriendshipEndedBeforeTheShare) {
  World world(WorkerOptions{.jobs_per_minute = 0, .poll = std::chrono::minutes{1}});
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  // Both changes in one sweep: accepted, and ended before the share.
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

TEST(Sweep, FollowsARequestThatWasSentWhileAnotherSweepWasUnderWay) {
  constexpr std::chrono::seconds kFirst{20};
  World world(WorkerOptions{.jobs_per_minute = 0, .first_sweep = kFirst});
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "sweep" ? once(held, Fate::hold_done) : Fate::answer;
  };
  world.settle(kFirst);
  ASSERT_TRUE(held);
  const auto id = world.deliver(world.order("2", "Bob", {"sku-1"}));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  world.cloud.release();
  world.cloud.accept("u-bob");
  world.settle(kFirst);
  EXPECT_EQ(world.status(id), "completed");
}

// Five customers who accepted between two sweeps, one on each page of the next; and a platform that serves
// two pages and fails the third, again and again.
class ManyPages : public ::testing::Test {
 protected:
  ManyPages() {
    world_.cloud.auto_accept = false;
    for (const char* name : {"Ann", "Bob", "Cid", "Dan", "Eve"})
      ids_.push_back(world_.accept(world_.order(name, name, {"sku-1"})).delivery.value());
    world_.settle();
    world_.cloud.before = [this](auto& call, auto& subject) {
      if (call != "sweep") return Fate::answer;
      asked_.push_back(subject);
      return asked_.size() % 3 == 0 ? Fate::fail : Fate::answer;
    };
  }
  void all_accept() {
    for (const char* user : {"u-ann", "u-bob", "u-cid", "u-dan", "u-eve"}) world_.cloud.accept(user);
  }
  void expect_all_completed() {
    for (const auto id : ids_) EXPECT_EQ(world_.status(id), "completed");
    expect_books_balance(world_);
  }

  static constexpr WorkerOptions one_a_page() {
    auto options = World::unlimited();
    options.sweep_page = 1;
    return options;
  }

  World world_{one_a_page()};
  std::vector<DeliveryId> ids_;
  std::vector<std::string> asked_;  // the cursors
};

TEST_F(ManyPages, AFullSweepThatFailedGoesOnFromTheLastPageThatWasTakenIn) {
  all_accept();
  world_.settle(std::chrono::minutes{6});
  expect_all_completed();
  EXPECT_EQ(std::ranges::count(asked_, ""), 1) << "it began once";
  EXPECT_TRUE(world_.queue().last_full_sweep_at);
}

TEST_F(ManyPages, AFailedSweepIsDueAgainWithinAMinute) {
  all_accept();
  world_.cloud.before = [this](auto& call, auto&) {
    if (call != "sweep") return Fate::answer;
    asked_.push_back("");
    return Fate::fail;
  };
  while (asked_.empty()) world_.settle(std::chrono::seconds{1});
  ASSERT_TRUE(world_.queue().sweep_due_at);
  EXPECT_LE(*world_.queue().sweep_due_at - world_.database.clock.now(), std::chrono::minutes{1});
}

TEST_F(ManyPages, AFullSweepWhoseProcessDiedGoesOnToo) {
  all_accept();
  bool dead = false;
  world_.cloud.before = [&](auto& call, auto& subject) {
    if (call != "sweep") return Fate::answer;
    asked_.push_back(subject);
    const bool now = !dead && subject == "3";
    dead = dead || now;
    return now ? Fate::hold : Fate::answer;
  };
  while (!dead) world_.settle(std::chrono::seconds{1});
  world_.crash(one_a_page());
  world_.settle(std::chrono::minutes{10});
  expect_all_completed();
  EXPECT_EQ(std::ranges::count(asked_, ""), 1) << "it began once";
}

TEST_F(ManyPages, TheFullSweepOfTheNextDayBeginsAtTheStart) {
  all_accept();
  world_.settle(std::chrono::minutes{6});
  expect_all_completed();
  ASSERT_EQ(std::ranges::count(asked_, ""), 1);
  const auto first = *world_.queue().last_full_sweep_at;
  world_.cloud.before = [this](auto& call, auto& subject) {
    if (call == "sweep") asked_.push_back(subject);
    return Fate::answer;
  };
  ids_.push_back(world_.accept(world_.order("late", "Fay", {"sku-1"})).delivery.value());
  world_.settle(std::chrono::hours{26});
  EXPECT_EQ(std::ranges::count(asked_, ""), 2);
  EXPECT_GE(*world_.queue().last_full_sweep_at - first, std::chrono::hours{24});
}

TEST_F(ManyPages, ACursorThatThePlatformRefusesIsGivenUp) {
  world_.cloud.before = nullptr;
  world_.settle(std::chrono::minutes{2});
  world_.write([](storage::Tx& tx) { tx.exec_script("UPDATE cloud_accounts SET sweep_cursor = '77';"); });
  world_.cloud.before = [](auto& call, auto& subject) {
    return call == "sweep" && subject == "77" ? Fate::reject : Fate::answer;
  };
  all_accept();
  world_.settle(std::chrono::minutes{3});
  expect_all_completed();
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
  EXPECT_TRUE(world.log.text.contains("a change that a sweep read of one customer could not be written"))
      << world.log.text;
  // The full sweep of the day reads it again.
  world.mend(ann);
  world.settle(std::chrono::hours{25});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Sweep, OneWhoseEndCannotBeWrittenIsLoggedAndMadeAgain) {
  World world(World::attentive());
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
  World world(World::attentive());
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

// GET /api/credentials shows merchants when the newest sweep was.
TEST(Sweep, OneWithoutALoginReadsNothingAndDoesNotCountAsMade) {
  World world(World::attentive());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::seconds{90});
  const auto set_login = [&](storage::CredentialsStatus status) {
    world.write([&](storage::Tx& tx) {
      update_standing(tx, world.account, {status, 1, world.cloud_account});
      tx.exec({"UPDATE cloud_accounts SET last_full_sweep_at = last_full_sweep_at - 86400000"});
    });
  };
  set_login(storage::CredentialsStatus::invalid);
  const auto before = world.queue();
  ASSERT_TRUE(before.last_sweep_at);
  const int read = world.cloud.count("sweep");
  world.settle(std::chrono::minutes{4});
  const auto after = world.queue();
  EXPECT_EQ(world.cloud.count("sweep"), read);
  EXPECT_EQ(after.last_sweep_at, before.last_sweep_at);
  EXPECT_EQ(after.last_full_sweep_at, before.last_full_sweep_at);
  EXPECT_GT(after.sweep_due_at, world.database.clock.now());
  EXPECT_GE(after.sweep_fence - before.sweep_fence, 3) << "each minute";
  EXPECT_LE(after.sweep_fence - before.sweep_fence, 5);
  set_login(storage::CredentialsStatus::valid);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Sweep, OneWhoseLoginFindsNoPlaceIsMadeHalfAMinuteLaterAndIsNoTrouble) {
  World world(World::attentive());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto before = world.queue();
  world.agent.busy = true;
  world.sessions->invalidate(world.account);
  const int logins = world.agent.logins;
  world.settle(std::chrono::minutes{3});
  EXPECT_GE(world.agent.logins - logins, 4);
  EXPECT_EQ(world.queue().trouble, before.trouble);
  EXPECT_EQ(world.queue().last_sweep_at, before.last_sweep_at);
  world.agent.busy = false;
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(Sweep, ARefusedLoginThatCannotBeWrittenIsLogged) {
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
