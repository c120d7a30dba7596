// Work that began with a login which is gone: replaced by one of another cloud user (spec 3.11), deleted, or
// not valid any more.
#include <gtest/gtest.h>

#include "services/vault/vault_testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::once;
using testing::VaultOfWorld;
using testing::World;
using Fate = testing::FakeCloud::Fate;

// Ann's file was shared, or not, when the answer was lost; then the merchant saves a login of another user.
DeliveryId unknown_share(World& world, Fate fate) {
  auto lost = std::make_shared<bool>(false);
  world.cloud.before = [lost, fate](const std::string& call, auto&) {
    return call == "share" ? once(*lost, fate) : Fate::answer;
  };
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::sharing);
  EXPECT_EQ(world.balance().held, 1);
  return id;
}
std::string timeline(World& world, DeliveryId id) {
  std::string all;
  for (const auto& entry : world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); }))
    all += entry.message + "\n";
  return all;
}

TEST(FormerLogin, AnUnknownShareIsLookedUpWithTheSessionThatIsLeftOfIt) {
  World world;
  VaultOfWorld vault(world);
  const auto id = unknown_share(world, Fate::lose_answer);
  vault.save("m-2");
  EXPECT_EQ(world.balance().held, 1);
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::shared);
  testing::expect_books_balance(world);
}

TEST(FormerLogin, AShareThatIsNotThereIsOwedByTheLoginOfNow) {
  World world;
  VaultOfWorld vault(world);
  const auto id = unknown_share(world, Fate::lose_request);
  vault.save("m-2");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_NE(world.delivery(id).cloud_account, world.cloud_account);
  testing::expect_books_balance(world);
}

TEST(FormerLogin, WithoutASessionTheHoldIsReleasedAfterAnHour) {
  World world;
  const auto id = unknown_share(world, Fate::lose_request);
  world.crash();  // with its cached sessions
  VaultOfWorld vault(world);
  vault.save("m-2");
  world.settle(std::chrono::minutes{59});
  EXPECT_EQ(world.balance().held, 1);
  EXPECT_EQ(world.status(id), "queued");
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_TRUE(world.cloud.settled_as.empty()) << "nobody else may look it up";
  EXPECT_EQ(world.status(id), "completed") << "with the login of now";
  EXPECT_TRUE(timeline(world, id).contains("It counts as not shared.")) << timeline(world, id);
  testing::expect_books_balance(world);
}

TEST(FormerLogin, ADeletedLoginLeavesNoSession) {
  World world;
  VaultOfWorld vault(world);
  const auto id = unknown_share(world, Fate::lose_answer);
  vault.remove();
  vault.save("m-2");
  world.settle(std::chrono::minutes{59});
  EXPECT_TRUE(world.cloud.settled_as.empty());
  EXPECT_EQ(world.balance().held, 1);
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_NE(world.items(id).at(0).status, ItemStatus::sharing);
}

TEST(FormerLogin, NothingIsGivenUpOnThePlatformsWordOfAnotherUserAlone) {
  World world;
  const auto id = unknown_share(world, Fate::lose_answer);
  world.sessions->invalidate(world.account);
  world.agent.user_id = "m-2";  // and no login was saved
  world.settle(std::chrono::hours{5});
  EXPECT_EQ(world.balance().held, 1);
  world.agent.user_id = "m-1";
  world.sessions->invalidate(world.account);
  world.settle(std::chrono::minutes{10});
  EXPECT_EQ(world.status(id), "completed");
  testing::expect_books_balance(world);
}

// Makes the account's stored login a refused one, as when its password was changed.
void refuse_login_of_now(World& world) {
  world.agent.refuse = true;
  world.write([&](storage::Tx& tx) {
    auto standing = *lock_standing(tx, world.account);
    standing.status = storage::CredentialsStatus::invalid;
    update_standing(tx, world.account, standing);
  });
}

TEST(FormerLogin, TheHoldIsReleasedAfterAnHourThoughTheLoginOfNowIsRefused) {
  World world;
  const auto id = unknown_share(world, Fate::lose_request);
  world.crash();
  VaultOfWorld vault(world);
  vault.save("m-2");
  refuse_login_of_now(world);
  world.settle(std::chrono::minutes{58});
  EXPECT_EQ(world.balance().held, 1);
  world.settle(std::chrono::minutes{20});
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_NE(world.items(id).at(0).status, ItemStatus::sharing);
  EXPECT_EQ(world.status(id), "failed credentials_invalid");
  EXPECT_TRUE(world.cloud.settled_as.empty());
}

TEST(FormerLogin, TheSessionThatIsLeftLooksItUpThoughTheLoginOfNowIsRefused) {
  World world;
  VaultOfWorld vault(world);
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? Fate::lose_answer : call == "find_share" ? Fate::fail : Fate::answer;
  };
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  vault.save("m-2");
  refuse_login_of_now(world);
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{30});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::shared);
  for (const auto& user : world.cloud.settled_as) EXPECT_EQ(user, "m-1");
}

TEST(FormerLogin, TheFormerUserSavedAgainSettlesItAsBefore) {
  World world;
  const auto id = unknown_share(world, Fate::lose_answer);
  world.crash();
  VaultOfWorld vault(world);
  vault.save("m-2");
  world.settle(std::chrono::minutes{30});
  vault.save("m-1");
  world.settle(std::chrono::minutes{5});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::shared);
  testing::expect_books_balance(world);
}

TEST(FormerLogin, ItsShareIsTakenBackWithTheSessionThatIsLeft) {
  World world;
  VaultOfWorld vault(world);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  vault.save("m-2");
  world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoked);
}

TEST(FormerLogin, WithoutASessionARevocationFailsAfterAnHourAndSaysWhy) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.crash();
  VaultOfWorld vault(world);
  vault.save("m-2");
  world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
  world.settle(std::chrono::minutes{58});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoking);
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoke_failed);
  EXPECT_TRUE(
      timeline(world, id).contains("could not be taken back: the cloud login that it was shared with"))
      << timeline(world, id);
  EXPECT_TRUE(world.cloud.settled_as.empty());
  EXPECT_EQ(world.balance().spent, 1);
}

// ---------------------------------------------------------------- no login at all

void expect_no_job_is_left(World& world, DeliveryId id) {
  const auto customer = world.delivery(id).customer;
  const auto row = world.write([&](storage::Tx& tx) { return find_customer(tx, customer).value(); });
  EXPECT_EQ(row.queue_state, storage::QueueState::idle);
}

TEST(FormerLogin, WithoutAnyAnUnknownShareCountsAsNotMadeAfterAnHourAndIsChargedOnceItIsFound) {
  for (const Fate fate : {Fate::lose_answer, Fate::lose_request}) {
    SCOPED_TRACE(fate == Fate::lose_answer ? "it was made" : "it was not");
    World world;
    VaultOfWorld vault(world);
    const auto id = unknown_share(world, fate);
    vault.remove();
    world.settle(std::chrono::minutes{58});
    EXPECT_EQ(world.balance().held, 1);
    EXPECT_EQ(world.status(id), "failed credentials_missing");
    world.settle(std::chrono::minutes{20});
    EXPECT_EQ(world.balance().held, 0);
    EXPECT_EQ(world.items(id).at(0).status, ItemStatus::owed);
    EXPECT_TRUE(timeline(world, id).contains("its account has had no valid cloud login for too long"))
        << timeline(world, id);
    expect_no_job_is_left(world, id);
    EXPECT_TRUE(world.cloud.settled_as.empty());
    vault.save("m-1");
    world.settle(std::chrono::minutes{2});
    EXPECT_EQ(world.status(id), "completed");
    testing::expect_books_balance(world);
  }
}

TEST(FormerLogin, WithoutAnyARevocationFailsAndSaysWhy) {
  for (const std::string what : {"deleted", "refused", "unreadable"}) {
    SCOPED_TRACE(what);
    World world;
    VaultOfWorld vault(world);
    const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
    world.sessions->invalidate(world.account);
    if (what == "deleted") vault.remove();
    if (what == "refused") world.agent.refused = {world.account};
    if (what == "unreadable") world.agent.unreadable = {world.account};
    world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
    world.settle(what == "deleted" ? std::chrono::minutes{58} : std::chrono::minutes{71 * 60});
    EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoking);
    world.settle(std::chrono::minutes{90});
    EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoke_failed);
    EXPECT_TRUE(timeline(world, id).contains(
        "could not be taken back: its account has had no valid cloud login for too long"))
        << timeline(world, id);
    expect_no_job_is_left(world, id);
    EXPECT_EQ(world.cloud.count("revoke"), 0);
  }
}

TEST(FormerLogin, TheHourWithoutAnyBeginsWithTheLossHoweverLongTheShareWasUnknownBefore) {
  World world;
  VaultOfWorld vault(world);
  world.cloud.retry_after = std::chrono::hours{5};
  bool lost = false;
  bool limited = false;
  world.cloud.before = [&](const std::string& call, auto&) {
    if (call == "share") return once(lost, Fate::lose_answer);
    return call == "find_share" ? once(limited, Fate::rate_limit) : Fate::answer;
  };
  world.accept(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::hours{4});
  ASSERT_TRUE(limited);
  vault.remove();
  world.settle(std::chrono::minutes{105});  // the limit ends after one hour of these
  EXPECT_EQ(world.balance().held, 1);
  world.settle(std::chrono::minutes{40});
  EXPECT_EQ(world.balance().held, 0);
}

TEST(FormerLogin, AnHourThatALoginEndedBeginsAnewWhenThatIsLostToo) {
  World world;
  VaultOfWorld vault(world);
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  vault.remove();
  world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
  world.settle(std::chrono::minutes{50});
  ASSERT_EQ(world.items(id).at(0).status, ItemStatus::revoking);
  world.cloud.before = [](auto& call, auto&) { return call == "revoke" ? Fate::fail : Fate::answer; };
  vault.save("m-1");
  world.settle(std::chrono::minutes{20});
  ASSERT_GT(world.cloud.count("revoke"), 0);
  vault.remove();
  world.settle(std::chrono::minutes{58});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoking);
  world.settle(std::chrono::minutes{90});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoke_failed);
}

// ---------------------------------------------------------------- another account of the same cloud user

TEST(FormerLogin, AnUnknownShareIsLookedUpWithTheLoginOfAnotherAccountOfTheCloudUser) {
  World world;
  VaultOfWorld vault(world);
  const auto other = world.add_tenant("m-1");
  ASSERT_EQ(other.cloud_account, world.cloud_account);
  const auto id = unknown_share(world, Fate::lose_answer);
  vault.remove();
  world.settle(std::chrono::minutes{2});
  const auto theirs = world.accept(other.integration, world.order("2", "Ann", {"sku-2"})).delivery.value();
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::shared);
  EXPECT_EQ(world.balance().spent, 1);
  EXPECT_EQ(world.balance().held, 0);
  EXPECT_EQ(world.status(theirs), "completed");
}

TEST(FormerLogin, AReplacedLoginsShareIsLookedUpWithTheLoginOfAnotherAccountOfTheCloudUser) {
  World world;
  const auto other = world.add_tenant("m-1");
  world.agent.user_ids[other.account] = "m-1";
  const auto id = unknown_share(world, Fate::lose_answer);
  world.crash();  // with its cached sessions
  VaultOfWorld vault(world);
  vault.save("m-2");
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  EXPECT_EQ(world.items(id).at(0).status, ItemStatus::shared);
  testing::expect_books_balance(world);
}

TEST(FormerLogin, ARevocationWithoutOneHoldsUpNoOrderOfAnotherAccountOfTheCloudUser) {
  for (const std::string sku : {"sku-1", "sku-2"}) {
    SCOPED_TRACE(sku == "sku-1" ? "the same file" : "another file");
    World world;
    VaultOfWorld vault(world);
    const auto other = world.add_tenant("m-1");
    const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
    vault.remove();
    world.await(world.actions.revoke(world.scheduler, world.merchant(), id)).value();
    // Files are taken back before she is asked.
    world.cloud.friendships["u-ann"] = cloud::FriendshipState::none;
    const auto theirs = world.accept(other.integration, world.order("2", "Ann", {sku})).delivery.value();
    world.settle(std::chrono::minutes{1});
    EXPECT_EQ(world.status(theirs), "completed");
    EXPECT_EQ(world.delivery(theirs).attempt_count, 1);
    EXPECT_FALSE(timeline(world, theirs).contains("The worker stopped")) << timeline(world, theirs);
    EXPECT_EQ(world.items(id).at(0).status, ItemStatus::revoked);
    EXPECT_TRUE(world.cloud.shares.contains({"u-ann", sku == "sku-1" ? "file-1" : "file-2"}));
    EXPECT_EQ(world.cloud.settled_as, std::vector<std::string>{"m-1"});
  }
}

TEST(FormerLogin, AnotherCloudAccountIsNotForgottenWhereAStopIsWithdrawnMeanwhile) {
  World world;
  VaultOfWorld vault(world);
  world.cloud.auto_accept = false;
  auto held = std::make_shared<bool>(false);
  world.cloud.before = [held](const std::string& call, auto&) {
    return call == "request" ? once(*held, Fate::hold) : Fate::answer;
  };
  const auto id = world.deliver(testing::later(world, "1", {"sku-1"}, 0));
  ASSERT_EQ(world.status(id), "processing");
  vault.save("m-2");
  ASSERT_EQ(world.delivery(id).pending.kind, domain::PendingActionKind::cloud_account_changed);
  auto stop = testing::later(world, "1", {"sku-1"}, 1);
  stop.payment = domain::Payment::cancelled;
  world.accept(stop);
  world.accept(testing::later(world, "1", {"sku-1"}, 2));
  world.cloud.release();
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_NE(world.delivery(id).cloud_account, world.cloud_account);
}

}  // namespace
}  // namespace presetbridge::services
