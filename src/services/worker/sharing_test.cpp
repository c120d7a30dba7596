// Sharing exactly once, and paying once (spec 3.9).
#include "services/worker/share_ledger.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::expect_books_balance;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST(Sharing, RetriesATransientFailureWithoutRepeatingWhatIsDone) {
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

TEST(Sharing, SettlesAShareWhoseAnswerWasLostWithoutSharingAgain) {
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

TEST(Sharing, ReleasesTheHoldOfAShareThatNeverArrivedAndSharesThen) {
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

TEST(Sharing, PaysNothingForAShareThatSomebodyElseMade) {
  World world;
  world.cloud.friendships["u-ann"] = cloud::FriendshipState::friends;
  world.cloud.shares[{"u-ann", "file-1"}] = {"s-0", "by-hand", world.database.clock.now(), false};
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].status, domain::ItemStatus::already_shared);
  EXPECT_EQ(world.balance().spent, 0);
  expect_books_balance(world);
}

TEST(Sharing, SharesWhatTheCreditsCoverAndResumesWhenMoreAreGranted) {
  World world(World::unlimited(), 1);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  EXPECT_EQ(world.status(id), "failed insufficient_credits");
  EXPECT_EQ(world.balance().spent, 1);
  world.grant(5);
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

// As a refunded pack does.
void reverse_credits(World& world, std::int64_t credits) {
  world.write([&](storage::Tx& tx) {
    update_balance(tx, world.account, domain::reverse(*lock_balance(tx, world.account), credits).value());
  });
}

TEST(Sharing, ACreditReleasedPaysDebtAndCanNotBeSpent) {
  World world(World::unlimited(), 1);
  bool failed = false;
  world.cloud.before = [&](auto& call, auto&) {
    if (call != "share" || failed) return Fate::answer;
    reverse_credits(world, 1);
    return once(failed, Fate::fail);
  };
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world.balance(), (domain::Balance{.granted = 1, .reversed = 1}));
  const auto ledger = world.write([&](storage::Tx& tx) { return list_ledger(tx, world.account, {}, 10); });
  ASSERT_EQ(ledger.size(), 1u);
  EXPECT_EQ(ledger[0].kind, domain::LedgerEntryKind::debt_paid);
  EXPECT_EQ(ledger[0].credits, 1);

  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(ann), "failed insufficient_credits");
  EXPECT_TRUE(world.cloud.shares.empty());
  world.grant(1);
  world.settle();
  EXPECT_EQ(world.status(ann), "completed");
  EXPECT_EQ(world.balance(), (domain::Balance{.granted = 2, .reversed = 1, .spent = 1}));
}

TEST(Sharing, HeldCreditsThatADebtWaitsForPromiseNothingToAnotherDelivery) {
  World world(World::unlimited(), 1);
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold : Fate::answer; };
  world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.balance().held, 1);
  reverse_credits(world, 1);
  const auto bob = world.deliver(world.order("2", "Bob", {"sku-1"}));
  EXPECT_EQ(world.status(bob), "failed insufficient_credits");
  EXPECT_EQ(world.cloud.requests.count("u-bob"), 0u) << "nobody is asked for nothing";
}

TEST(Sharing, DoesNotShareARefundedFileWhoseShareTurnsOutNeverToHaveArrived) {
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

TEST(Sharing, TakesOverTheWorkOfADeadWorkerWithinAMinute) {
  World world(World::attentive());
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

TEST(Sharing, AFileThatTheMappingDoesNotNameIsCalledByItsId) {
  World world;
  world.write([](storage::Tx& tx) { tx.exec_script("UPDATE mappings SET file_name = '';"); });
  world.directory.forget(world.integration);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id)[0].name, "file-1");
  const auto ledger = world.write([&](storage::Tx& tx) { return list_ledger(tx, world.account, {}, 10); });
  ASSERT_EQ(ledger.size(), 1u);
  EXPECT_EQ(ledger[0].note, "shared file-1");
}

}  // namespace
}  // namespace presetbridge::services
