// Changes that are made while a call to the platform is on its way, or between a read and a write (spec 3.3,
// 3.4, 3.6). Each test forces the order of steps.
#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

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
  static WorkerOptions polling_often() {
    auto options = World::unlimited();
    options.maintenance = Millis{5'000};
    return options;
  }
  World world{polling_often()};
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

TEST_F(WhileSharing, ARefundOfTheFileOnItsWayComesTooLateForIt) {
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refund);
  finish();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(world.delivery(id).refunded);
  for (const auto& item : world.items(id)) EXPECT_EQ(item.status, domain::ItemStatus::shared);
  expect_books_balance(world);
}

TEST_F(WhileSharing, ErasureKeepsAndPaysWhatWasSharedAndBlanksThePerson) {
  world.accept({.kind = domain::OrderEvent::Kind::customer_redact,
                .provider = domain::Provider::provider_a,
                .order_ids = {"1"}});
  EXPECT_EQ(world.status(id), "processing") << "what was begun is settled first";
  finish();
  EXPECT_EQ(world.status(id), "completed");
  const auto row = world.delivery(id);
  EXPECT_EQ(row.username + row.raw_username + row.email + row.pending.name.username, "");
  EXPECT_EQ(world.items(id)[1].status, domain::ItemStatus::dropped);
  EXPECT_EQ(world.cloud.count("share"), 1);
  expect_books_balance(world);
}

TEST_F(WhileSharing, AnActionThatWasObeyedIsNotObeyedAgainByTheNextJob) {
  ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  finish();
  ASSERT_EQ(world.status(id), "in_review");
  EXPECT_EQ(world.delivery(id).pending, domain::PendingAction{});
  ASSERT_TRUE(world.await(world.actions.approve(world.scheduler, world.merchant(), id)));
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.size(), 2u);
  expect_books_balance(world);
}

TEST_F(WhileSharing, ANewUsernameOwesEveryFileToTheOtherCustomer) {
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Bob")));
  finish();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-1"}), 1u);
  EXPECT_EQ(world.cloud.shares.count({"u-bob", "file-1"}), 1u);
  EXPECT_EQ(world.cloud.shares.count({"u-bob", "file-2"}), 1u);
  EXPECT_EQ(world.cloud.shares.size(), 3u);
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
  // The worker hangs with the answer; another takes over at the next scan, settles and finishes.
  world.settle(WorkerOptions{}.lease + polling_often().maintenance + std::chrono::seconds{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("share"), 2);
  finish();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST_F(WhileSharing, AnExpiredLeaseThatScansHavePassedIsFoundByAFullScan) {
  static constexpr storage::Sql kLongAgo{
      "UPDATE customers SET lease_expires_at = 1 WHERE lease_expires_at IS NOT NULL"};
  world.settle(polling_often().maintenance);
  world.write([](storage::Tx& tx) { tx.exec(kLongAgo); });
  world.settle(polling_often().maintenance + std::chrono::seconds{1});
  EXPECT_EQ(world.status(id), "processing") << "before the point where scans begin";
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "completed");
  finish();
  expect_books_balance(world);
}

TEST(WorkerRaces, AMappingSavedDuringTheShareOfAMissingFileIsShared) {
  World world;
  world.cloud.unknown_files = {"file-1"};
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "processing");
  world.write([&](storage::Tx& tx) {
    replace_mappings(tx, world.integration,
                     {{{world.ids.make<MappingId>(), domain::MatchType::sku, "sku-1",
                        domain::MappingAction::deliver, "file-2", "preset", "File 2"},
                       "sku-1",
                       false}});
    add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
  });
  world.worker->wake();
  world.settle(std::chrono::seconds{1});
  EXPECT_EQ(world.write([](storage::Tx& tx) { return storage::find_account_tasks(tx, 1); }).size(), 0u);
  world.cloud.release();
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-2"}), 1u);
  expect_books_balance(world);
}

TEST(WorkerRaces, ALoginSavedDuringARefusedOneIsTriedInsteadOfFailing) {
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
      put_credentials(tx, record, std::vector<std::byte>(8));
    });
  };
  const auto accepted = world.accept(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.status(*accepted.delivery), "completed");
  const auto standing = world.write([&](storage::Tx& tx) { return *find_standing(tx, world.account); });
  EXPECT_EQ(standing.status, storage::CredentialsStatus::valid);
}

TEST(WorkerRaces, APurchaseBetweenTwoSharesIsSeenByTheSecond) {
  World world(World::unlimited(), 1);
  world.cloud.tick = [&] {
    if (world.cloud.count("share") != 1) return;
    world.cloud.tick = nullptr;
    world.grant(5);
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

TEST(WorkerRaces, AUsernameThatArrivesWhileTheOldOneIsLookedUpIsUsed) {
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

TEST(WorkerRaces, AnOrderCancelledAfterALostAnswerIsSettledFirst) {
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

TEST(WorkerRaces, AUsernameThatTheStoreCorrectsWhileTheOldOneIsLookedUpIsUsed) {
  World world;
  world.cloud.unknown_users = {"Anm"};
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  auto mistyped = later(world, "1", {"sku-1"}, 1);
  mistyped.username = mistyped.raw_username = "Anm";
  const auto id = world.deliver(mistyped);
  ASSERT_EQ(world.status(id), "processing");
  world.accept(later(world, "1", {"sku-1"}, 2));
  world.cloud.release();
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.delivery(id).username, "Ann");
  EXPECT_EQ(world.cloud.shares.count({"u-ann", "file-1"}), 1u);
}

TEST(WorkerRaces, AMerchantsCorrectionThatLeadsNowhereIsNotReplacedByTheOrdersOldName) {
  World world;
  world.cloud.unknown_users = {"Anm", "Amm"};
  auto mistyped = later(world, "1", {"sku-1"}, 1);
  mistyped.username = mistyped.raw_username = "Anm";
  const auto id = world.deliver(mistyped);
  ASSERT_EQ(world.status(id), "failed username_not_found");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Amm")));
  world.settle();
  EXPECT_EQ(world.status(id), "failed username_not_found");
  EXPECT_EQ(world.delivery(id).username, "Amm");
  auto refund = domain::OrderEvent{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L9", 1}}}};
  world.accept(refund);
  EXPECT_EQ(world.status(id), "failed username_not_found");
  EXPECT_EQ(world.delivery(id).username, "Amm") << "an event about something else says nothing of the name";
}

TEST(WorkerRaces, AnEventDuringTheLookUpOfAMerchantsCorrectionBringsNoOldNameBack) {
  World world;
  world.cloud.unknown_users = {"Anm", "Amm"};
  auto mistyped = later(world, "1", {"sku-1"}, 1);
  mistyped.username = mistyped.raw_username = "Anm";
  const auto id = world.deliver(mistyped);
  ASSERT_EQ(world.status(id), "failed username_not_found");
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "find_user" ? once(held, Fate::hold) : Fate::answer;
  };
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Amm")));
  world.settle();
  ASSERT_EQ(world.status(id), "processing");
  auto edited = later(world, "1", {"sku-1", "sku-2"}, 2);
  edited.username = edited.raw_username = "Anm";
  world.accept(edited);
  world.cloud.release();
  world.settle();
  EXPECT_EQ(world.status(id), "failed username_not_found");
  EXPECT_EQ(world.delivery(id).username, "Amm");
}

TEST(WorkerRaces, ARenameWhileTheFriendRequestIsOnItsWayTakesTheRequestBack) {
  World world;
  world.cloud.auto_accept = false;
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Wrong", {"sku-1"}));
  ASSERT_EQ(world.status(id), "processing");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, "Ann")));
  world.cloud.release();
  world.settle();
  EXPECT_EQ(world.cloud.withdrawals["u-wrong"], 1);
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST(WorkerRaces, OrdersThatComeWhileARetryIsWaitedForDoNotPutItOff) {
  World world;
  world.cloud.before = [](auto& call, auto&) { return call == "find_user" ? Fate::fail : Fate::answer; };
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto second = world.deliver(world.order("2", "Ann", {"sku-2"}));
  const auto customer = world.write(
      [&](storage::Tx& tx) { return find_customer(tx, find_delivery(tx, first)->customer).value(); });
  ASSERT_EQ(customer.failing.size(), 1U);
  EXPECT_EQ(customer.failing[0].failures, 1);
  EXPECT_EQ(world.delivery(first).attempt_count, 2);
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(world.status(first), "completed");
  EXPECT_EQ(world.status(second), "completed");
}

TEST(WorkerRaces, ARefusalThatASweepSeesBeforeTheRequestsAnswerIsNotLost) {
  World world(WorkerOptions{.jobs_per_minute = 0, .first_sweep = std::chrono::seconds{1}});
  world.cloud.auto_accept = false;
  world.deliver(world.order("1", "Bob", {"sku-1"}));  // there are sweeps
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(held);
  world.cloud.change("u-ann", cloud::FriendshipState::declined);
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE cloud_accounts SET sweep_due_at = $1, ready_at = $1"}, tx.now());
  });
  const auto sweeps = world.cloud.count("sweep");
  for (int i = 0; i < 20 && world.cloud.count("sweep") == sweeps; ++i) world.settle(Millis{250});
  ASSERT_GT(world.cloud.count("sweep"), sweeps);
  world.cloud.release();
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.status(id), "failed friend_request_declined");
}

// However a withdrawal ends, an order that comes before its end is known does not wait for a request that may
// be gone.
class WithdrawalsEnd : public ::testing::TestWithParam<Fate> {};
INSTANTIATE_TEST_SUITE_P(WorkerRaces, WithdrawalsEnd,
                         ::testing::Values(Fate::lose_request, Fate::lose_answer));

TEST_P(WithdrawalsEnd, AnOrderThatComesWhileItIsUnknownIsAskedForAgain) {
  World world;
  world.cloud.auto_accept = false;
  bool lost = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "withdraw" ? once(lost, GetParam()) : Fate::answer;
  };
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(first), "waiting_for_friendship");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), first, "Bob")));
  world.settle();
  ASSERT_TRUE(lost);
  const auto second = world.deliver(world.order("2", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.cloud.friendships["u-ann"], cloud::FriendshipState::requested);
  world.cloud.accept("u-ann");
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.status(second), "completed");
  expect_books_balance(world);
}

TEST(WorkerRaces, ErasureBeforeTheFirstShareEndsTheDeliveryWithoutIt) {
  World world;
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "request" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "processing");
  world.accept({.kind = domain::OrderEvent::Kind::customer_redact,
                .provider = domain::Provider::provider_a,
                .order_ids = {"1"}});
  EXPECT_EQ(world.status(id), "processing") << "a job has it";
  world.cloud.release();
  world.settle(std::chrono::hours{1});
  const auto row = world.delivery(id);
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_EQ(row.reason, "erased");
  EXPECT_EQ(row.username + row.raw_username + row.email, "");
  EXPECT_EQ(world.cloud.count("share"), 0);
  EXPECT_EQ(world.balance().held, 0);
}

// Spec 3.5: the probe's result is that of the delivery that it tried.
TEST(WorkerRaces, ADeliveryThatIsRetriedBesideAProbeIsNotFailedWithTheProbedOne) {
  World world(
      {.jobs_per_minute = 0, .poll = std::chrono::minutes{30}, .maintenance = std::chrono::minutes{5}});
  world.cloud.before = [](auto& call, auto&) { return call == "find_user" ? Fate::fail : Fate::answer; };
  const auto probed = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::hours{75});
  ASSERT_EQ(world.status(probed), "failed cloud_unavailable");
  const auto retried = world.accept(world.order("2", "Ann", {"sku-2"})).delivery.value();
  const auto is_probing = [&] {
    return world.write([&](storage::Tx& tx) {
      return static_cast<bool>(find_customer(tx, find_delivery(tx, probed)->customer)->probed_delivery);
    });
  };
  world.cloud.before = [&](auto& call, auto&) {
    if (call != "find_user") return Fate::answer;
    return is_probing() ? Fate::hold : Fate::fail;
  };
  while (world.cloud.held() == 0) world.settle(Millis{5'000});
  world.cloud.before = [](auto& call, auto&) { return call == "friendship" ? Fate::hold : Fate::answer; };
  world.cloud.release();
  world.settle();
  ASSERT_EQ(world.cloud.held(), 1U);
  ASSERT_EQ(world.status(retried), "processing");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), retried, std::nullopt)));
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::blocked;
  world.cloud.before = [&](auto& call, auto&) {
    if (call == "friendship") world.cloud.friendships["u-ann"] = cloud::FriendshipState::friends;
    return Fate::answer;
  };
  world.cloud.release();
  world.settle();
  EXPECT_EQ(world.status(probed), "failed blocked_by_customer");
  EXPECT_EQ(world.status(retried), "completed") << "its own job asked anew";
}

}  // namespace
}  // namespace presetbridge::services
