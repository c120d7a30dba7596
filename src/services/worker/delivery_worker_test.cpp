#include "services/worker/delivery_worker.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::FakeCloud;
using testing::World;
using Fate = FakeCloud::Fate;

FakeCloud::Fate once(bool& done, Fate fate) {
  return std::exchange(done, true) ? Fate::answer : fate;
}

// What must hold at every end (spec 3.9, 11.1).
void expect_books_balance(World& world) {
  int shared = 0;
  for (const auto& [what, times] : world.cloud.share_effects) {
    EXPECT_EQ(times, 1) << what.first << " got " << what.second << " more than once";
    shared += times;
  }
  EXPECT_EQ(world.balance().spent, shared);
  EXPECT_EQ(world.balance().held, 0);
  const auto ledger = world.write([&](storage::Tx& tx) { return list_ledger(tx, world.account, {}, 1'000); });
  EXPECT_EQ(static_cast<int>(ledger.size()), shared);
}

TEST(DeliveryWorker, RequestsFriendshipSharesEachFileAndSpendsOneCreditAFile) {
  World world;
  const auto id = world.deliver(world.order("1001", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  EXPECT_EQ(world.balance().spent, 2);
  expect_books_balance(world);
}

TEST(DeliveryWorker, WaitsForTheAcceptanceThatASweepSees) {
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

TEST(DeliveryWorker, FailsWithTheCodeOfWhatTheCustomerDid) {
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

TEST(DeliveryWorker, GivesUpWaitingAfterFourteenDaysAndResumesOnALateAcceptance) {
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

TEST(DeliveryWorker, RetriesATransientFailureWithoutRepeatingWhatIsDone) {
  World world;
  bool failed = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(failed, Fate::fail) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "queued");
  EXPECT_EQ(world.balance().held, 0) << "a definite failure releases the credit";
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  expect_books_balance(world);
}

TEST(DeliveryWorker, SettlesAShareWhoseAnswerWasLostWithoutSharingAgain) {
  World world;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.balance().held, 1) << "the hold stays until the outcome is known";
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("share"), 1);
  expect_books_balance(world);
}

TEST(DeliveryWorker, ReleasesTheHoldOfAShareThatNeverArrivedAndSharesThen) {
  World world;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("share"), 2);
  expect_books_balance(world);
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

TEST(DeliveryWorker, PaysNothingForAShareThatSomebodyElseMade) {
  World world;
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::friends;
  world.cloud.shares[{"u-ann", "file-1"}] = {"s-0", "by-hand", world.database.clock.now(), false};
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::already_shared);
  EXPECT_EQ(world.balance().spent, 0);
  expect_books_balance(world);
}

TEST(DeliveryWorker, SharesWhatTheCreditsCoverAndResumesWhenMoreAreGranted) {
  World world(World::unlimited(), 1);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  EXPECT_EQ(world.balance().spent, 1);
  world.write([&](storage::Tx& tx) {
    update_balance(tx, world.account, domain::grant(*lock_balance(tx, world.account), 5).value());
    add_chore(tx, world.account, storage::ChoreKind::resume_credits);
  });
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(DeliveryWorker, FailsOneMissingPresetAndSharesTheOthers) {
  World world;
  world.cloud.unknown_files = {"file-1"};
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  expect_books_balance(world);
}

TEST(DeliveryWorker, FailsAllWhenTheLoginIsRefusedAndDoesNotTryTheLoginAgain) {
  World world;
  world.agent.refuse = true;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(a), "failed credentials_invalid");
  const auto b = world.deliver(world.order("2", "Bob", {"sku-1"}));
  EXPECT_EQ(world.status(b), "failed credentials_invalid");
  EXPECT_EQ(world.agent.logins, 1);
}

TEST(DeliveryWorker, LogsInAgainWhenThePlatformEndedTheSession) {
  World world;
  bool refused = false;
  world.cloud.before = [&](auto&, auto&) { return once(refused, Fate::refuse_session); };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.agent.logins, 2);
}

TEST(DeliveryWorker, PausesTheAccountOn429WithoutConsumingTries) {
  World world;
  bool limited = false;
  world.cloud.before = [&](auto&, auto&) { return once(limited, Fate::rate_limit); };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "queued");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(DeliveryWorker, SurvivesAnOutageWithOneProbeAMinuteAndGoesOnAfterIt) {
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

TEST(DeliveryWorker, FailsAfterThreeDaysOfOutageAndResumesWithTheNextSuccess) {
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

TEST(DeliveryWorker, HoldsTheQueueLimitOverEveryRollingMinuteAndAcrossARestart) {
  const WorkerOptions limited{.jobs_per_minute = 5, .poll = std::chrono::minutes{1}};
  World world(limited);
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::minutes{7});
  world.crash(limited);
  world.settle(std::chrono::minutes{30});
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  // Each of these jobs begins with find_user: their times are the jobs' starts.
  std::vector<Timestamp> starts;
  for (std::size_t i = 0; i < world.cloud.calls.size(); ++i) {
    if (world.cloud.calls[i] == "find_user") starts.push_back(world.cloud.call_times[i]);
  }
  ASSERT_EQ(starts.size(), 100u);
  for (std::size_t i = 5; i < starts.size(); ++i) {
    EXPECT_GT(starts[i] - starts[i - 5], std::chrono::minutes{1} - Millis{1})
        << "six jobs within a minute at " << i;
  }
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

TEST(DeliveryWorker, TakesOverTheWorkOfADeadWorkerWithinAMinute) {
  World world;
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold_done : Fate::answer; };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "processing");
  world.crash();
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("share"), 1) << "the settlement found the dead worker's share";
  world.cloud.release();  // the dead worker's answer arrives at last
  world.settle();
  expect_books_balance(world);
}

TEST(DeliveryWorker, RevokesWhatWasSharedWithoutTouchingCreditsOrStatus) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id)));
  world.settle();
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_TRUE(world.cloud.shares.empty());
}

TEST(DeliveryWorker, AShareThatTwoOrdersStandOnIsTakenBackWithTheSecondOfThem) {
  World world;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), a)));
  world.settle();
  EXPECT_EQ(world.items(a)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::shared);
  EXPECT_EQ(world.cloud.shares.size(), 1u);

  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), b)));
  world.settle();
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::revoked);
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_EQ(world.balance().spent, 1);

  const auto c = world.deliver(world.order("3", "Ann", {"sku-1"}));
  EXPECT_EQ(world.items(c)[0].status, domain::ItemStatus::shared);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  EXPECT_EQ(world.balance().spent, 2);
}

TEST(DeliveryWorker, AnOrderThatStoodOnAnothersShareGivesItUpWithoutTakingItBack) {
  World world;
  const auto a = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto b = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), b)));
  world.settle();
  EXPECT_EQ(world.items(b)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), a)));
  world.settle();
  EXPECT_TRUE(world.cloud.shares.empty());
}

// ---------------------------------------------------------------- what must not hang, loop or stray

domain::OrderEvent later(World& world, const std::string& id, std::vector<std::string> skus, int minute) {
  auto event = world.order(id, "Ann", std::move(skus));
  event.provider = domain::Provider::provider_a;
  event.updated_at = from_unix_ms(1'790'000'000'000) + std::chrono::minutes{minute};
  return event;
}

TEST(DeliveryWorker, EndsARevocationFromACustomerWhoIsGone) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::user_gone : Fate::answer; };
  ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id)));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(world.cloud.count("revoke"), 1);
}

TEST(DeliveryWorker, TakesNothingAwayWhenAMappingBecomesStale) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1"}, 1));
  world.write([&](storage::Tx& tx) { mark_mappings_stale(tx, world.account); });
  auto again = later(world, "1", {"sku-1"}, 2);
  again.email = "other@example.com";
  world.accept(again);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::owed);
}

TEST(DeliveryWorker, LeavesAnApprovalStandingWhenALaterEventTellsOfTheSameRisk) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(later(world, "1", {"sku-1", "sku-2"}, 1));
  domain::OrderEvent risk{
      .kind = domain::OrderEvent::Kind::risk, .provider = domain::Provider::provider_a, .order_id = "1"};
  risk.high_risk = true;
  world.accept(risk);
  EXPECT_EQ(world.status(id), "in_review");
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L2", 1}}}};
  world.accept(refund);
  EXPECT_EQ(world.items(id)[1].status, domain::ItemStatus::dropped) << "a refund counts in review too";
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle();
  auto again = later(world, "1", {"sku-1", "sku-2"}, 9);
  again.email = "other@example.com";
  world.accept(again);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST(DeliveryWorker, AsksAgainWhenAnAcceptedFriendshipEndedBeforeTheShare) {
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

TEST(DeliveryWorker, RevokesAShareThatWasOnItsWayWhenTheOrderStopped) {
  World world;
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.auto_revoke = true;
    update_integration(tx, row);
  });
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  domain::OrderEvent stop{
      .kind = domain::OrderEvent::Kind::stop, .provider = domain::Provider::provider_b, .order_id = "1"};
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.cloud.release();
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::revoked);
  EXPECT_TRUE(world.cloud.shares.empty());
  EXPECT_EQ(world.balance().spent, 1) << "a revocation returns no credit (spec 3.10)";
}

TEST(DeliveryWorker, DoesNotActAsAnotherCloudUserWhoseLoginWasSaved) {
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

TEST(DeliveryWorker, DoesNotShareARefundedFileWhoseShareTurnsOutNeverToHaveArrived) {
  World world;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_request) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refund);
  world.settle(std::chrono::hours{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::dropped);
  EXPECT_EQ(world.cloud.shares.size(), 1u);
  expect_books_balance(world);
}

// ---------------------------------------------------------------- races: actions while a share is in flight

class WhileSharing : public ::testing::Test {
 protected:
  // Brings a delivery of two files to the point where the first share is done at the platform and its answer
  // is on the way.
  void SetUp() override {
    bool held = false;
    world.cloud.before = [held](auto& call, auto&) mutable {
      return call == "share" ? once(held, Fate::hold_done) : Fate::answer;
    };
    id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
    ASSERT_EQ(world.status(id), "processing");
    ASSERT_EQ(world.cloud.held(), 1u);
  }
  void finish() {
    world.cloud.release();
    world.settle(std::chrono::hours{1});
  }
  World world;
  DeliveryId id;
};

TEST_F(WhileSharing, InvalidateIsStoredAndObeyedOnceTheShareIsRecorded) {
  const auto view = world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "fraud"));
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->pending);
  EXPECT_EQ(world.status(id), "processing");
  finish();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(world.delivery(id).reason, "fraud");
  EXPECT_EQ(world.cloud.count("share"), 1) << "the second file is not shared any more";
  expect_books_balance(world);
}

TEST_F(WhileSharing, ReopenBringsItToReview) {
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  finish();
  EXPECT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.cloud.count("share"), 1);
  expect_books_balance(world);
}

TEST_F(WhileSharing, ACancelledOrderKeepsWhatWasSharedAndDropsTheRest) {
  auto event = world.order("1", "Ann", {"sku-1", "sku-2"});
  event.provider = domain::Provider::provider_a;
  event.kind = domain::OrderEvent::Kind::stop;
  event.payment = domain::Payment::cancelled;
  world.accept(event);
  finish();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.delivery(id).cancelled);
  EXPECT_EQ(world.items(id)[1].status, domain::ItemStatus::dropped);
  expect_books_balance(world);
}

TEST_F(WhileSharing, ARefundOfTheSecondLineDropsItsFile) {
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L2", 1}}}};
  world.accept(refund);
  finish();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[1].status, domain::ItemStatus::dropped);
  EXPECT_EQ(world.cloud.count("share"), 1);
  expect_books_balance(world);
}

TEST_F(WhileSharing, ANewUsernameTakesTheRestToTheOtherCustomer) {
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Bob")));
  finish();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-1"}), 1u);
  EXPECT_EQ(world.cloud.shares.count({"u-bob", "file-2"}), 1u);
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  expect_books_balance(world);
}

TEST_F(WhileSharing, AStopRecordsTheAnswerAndLeavesTheRestToBeTakenUpAtOnce) {
  bool stopped = false;
  world.worker->stop([&] { stopped = true; });
  world.settle();
  EXPECT_FALSE(stopped) << "a call is under way";
  world.cloud.release();
  world.settle(Millis{1});
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world.status(id), "queued");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::shared);
  world.crash();
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST_F(WhileSharing, AnExpiredLeaseIsTakenOverAndTheOldAnswerRefused) {
  // The worker hangs with the answer; another takes over, settles and finishes.
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("share"), 2);
  finish();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// ---------------------------------------------------------------- races: causes fixed while their failure is
// being written

TEST(DeliveryWorkerRaces, ALoginSavedDuringARefusedOneIsTriedInsteadOfFailing) {
  World world;
  world.agent.refuse = true;
  world.agent.during = [&] {
    world.agent.refuse = world.agent.logins == 1;
    if (world.agent.logins > 1) return;
    world.write([&](storage::Tx& tx) {
      auto standing = *lock_standing(tx, world.account);
      standing.version = 2;
      update_standing(tx, world.account, standing);
      auto record = *find_credentials(tx, world.account);
      record.version = 2;
      put_credentials(tx, record);
    });
  };
  const auto accepted = world.accept(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.status(*accepted.delivery), "completed");
  const auto standing = world.write([&](storage::Tx& tx) { return *find_standing(tx, world.account); });
  EXPECT_EQ(standing.status, storage::CredentialsStatus::valid);
}

TEST(DeliveryWorkerRaces, APurchaseBetweenTwoSharesIsSeenByTheSecond) {
  World world(World::unlimited(), 1);
  world.cloud.tick = [&] {
    if (world.cloud.count("share") != 1) return;
    world.cloud.tick = nullptr;
    world.write([&](storage::Tx& tx) {
      update_balance(tx, world.account, domain::grant(*lock_balance(tx, world.account), 5).value());
      add_chore(tx, world.account, storage::ChoreKind::resume_credits);
    });
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(DeliveryWorkerRaces, AUsernameThatArrivesWhileTheOldOneIsLookedUpIsUsed) {
  World world;
  world.cloud.unknown_users = {"Anm"};
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Anm", {"sku-1"}));
  ASSERT_EQ(world.status(id), "processing");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Ann")));
  world.cloud.release();
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-1"}), 1u);
}

TEST(DeliveryWorkerRaces, AnOrderCancelledAfterALostAnswerIsSettledFirst) {
  World world;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(lost, Fate::lose_answer) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.balance().held, 1);
  domain::OrderEvent stop{
      .kind = domain::OrderEvent::Kind::stop, .provider = domain::Provider::provider_b, .order_id = "1"};
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.settle(std::chrono::hours{1});
  // The customer has the file: it was shared and is paid for, whatever became of the delivery (spec 3.9).
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::shared);
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_TRUE(world.delivery(id).cancelled);
  expect_books_balance(world);
}

}  // namespace
}  // namespace presetbridge::services
