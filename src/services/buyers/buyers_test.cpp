// A buyer's view and actions with the link of a delivery (spec 13.3).
#include "services/buyers/buyers.h"

#include <gtest/gtest.h>

#include <array>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using domain::BuyerState;
using testing::World;

class BuyersTest : public ::testing::Test {
 protected:
  BuyersTest() {
    EXPECT_TRUE(world_.await(links_.start(world_.scheduler)));
    world_.cloud.auto_accept = false;
  }
  BuyerView view(DeliveryId id) { return world_.await(buyers_.view(world_.scheduler, id)).value(); }
  // The state that the answer shows, or why it was refused.
  std::string answer_of(const identity::LoginResult<BuyerView>& result) {
    return result ? std::string(to_string(result->state)) : result.error().code;
  }
  std::string correct(DeliveryId id, const std::string& username) {
    return answer_of(world_.await(buyers_.correct(world_.scheduler, id, username)));
  }
  std::string retry(DeliveryId id) { return answer_of(world_.await(buyers_.retry(world_.scheduler, id))); }
  domain::JobClass job_class_of(DeliveryId id) {
    const auto customer = world_.delivery(id).customer;
    return world_.write([&](storage::Tx& tx) { return find_customer(tx, customer).value().job_class; });
  }
  void minute() { world_.settle(std::chrono::minutes{1}); }

  World world_;
  BuyerLinks links_{world_.async_db, world_.cipher, world_.ids, world_.random};
  Buyers buyers_{world_.async_db, links_, world_.changes, 5, [this] { world_.worker->wake(); }};
};

TEST_F(BuyersTest, SeesWhatIsNeededAndNothingElse) {
  auto order = world_.order("1", "Ann", {"sku-1", "sku-2"});
  order.order_number = "#1001";
  const auto id = world_.deliver(order);
  auto seen = view(id);
  EXPECT_EQ(seen.state, BuyerState::accept_request);
  EXPECT_EQ(seen.merchant, "Merchant");
  EXPECT_EQ(seen.sender, "merchant");
  EXPECT_EQ(seen.order_number, "#1001");
  EXPECT_EQ(seen.username, "Ann");
  EXPECT_TRUE(seen.requested_at);
  ASSERT_EQ(seen.items.size(), 2U);
  EXPECT_EQ(seen.items[0].name, "File 1");
  EXPECT_EQ(seen.items[0].state, BuyerItemState::on_its_way);
  EXPECT_TRUE(seen.can_correct);
  EXPECT_FALSE(seen.can_retry);

  world_.cloud.accept("u-ann");
  world_.settle(std::chrono::minutes{2});
  seen = view(id);
  EXPECT_EQ(seen.state, BuyerState::delivered);
  EXPECT_EQ(seen.items[0].state, BuyerItemState::delivered);
  EXPECT_FALSE(seen.can_correct);
  EXPECT_FALSE(seen.requested_at);
}

TEST_F(BuyersTest, SeeWhenTheirTurnIsIfOthersComeFirst) {
  world_.hold_queue();
  std::vector<DeliveryId> all;
  for (int i = 0; i < 11; ++i) {
    const auto number = std::to_string(i);
    all.push_back(*world_.accept(world_.order(number, "buyer" + number, {"sku-1"})).delivery);
    world_.settle(Millis{1});
  }
  const auto account = world_.delivery(all[0]).cloud_account;
  const auto free_at =
      world_.write([&](storage::Tx& tx) { return find_cloud_account(tx, account).value().blocked_until; });
  EXPECT_EQ(view(all[0]).state, BuyerState::on_its_way);
  EXPECT_EQ(view(all[4]).starts_at, std::nullopt) << "five start in the first minute";
  EXPECT_EQ(view(all[5]).starts_at, free_at + std::chrono::minutes{1});
  EXPECT_EQ(view(all[10]).starts_at, free_at + std::chrono::minutes{2});
  world_.settle(std::chrono::minutes{2});
  EXPECT_EQ(view(all[10]).state, BuyerState::accept_request);
  EXPECT_EQ(view(all[10]).starts_at, std::nullopt);
}

TEST_F(BuyersTest, SeeADelayInAnOutage) {
  world_.cloud.before = [](auto&, auto&) { return testing::FakeCloud::Fate::fail; };
  std::vector<DeliveryId> all;
  for (const auto* const name : {"Ann", "Bob", "Cleo"})
    all.push_back(world_.deliver(world_.order(name, name, {"sku-1"})));
  world_.settle(std::chrono::minutes{10});
  for (const auto id : all) {
    ASSERT_EQ(world_.status(id), "queued");
    EXPECT_EQ(view(id).state, BuyerState::delayed);
    EXPECT_EQ(view(id).starts_at, std::nullopt);
    EXPECT_EQ(world_.await(world_.actions.get(world_.scheduler, world_.merchant(), id)).value().estimated_at,
              std::nullopt);
  }
}

TEST_F(BuyersTest, WhoHaveAcceptedAreNotAskedToAcceptWhileTheirFilesAreInLine) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(view(id).state, BuyerState::accept_request);
  // As a sweep finds it.
  world_.write([&](storage::Tx& tx) {
    auto customer = find_customer(tx, find_delivery(tx, id)->customer).value();
    customer.friendship = storage::Friendship::friends;
    update_customers(tx, std::array<const storage::CustomerRow*, 1>{&customer});
  });
  ASSERT_EQ(world_.status(id), "waiting_for_friendship");
  EXPECT_EQ(view(id).state, BuyerState::on_its_way);
  EXPECT_EQ(view(id).requested_at, std::nullopt);
}

TEST_F(BuyersTest, SeeWhenTheNextAttemptIs) {
  world_.cloud.auto_accept = true;
  world_.cloud.before = [](auto& call, auto&) {
    return call == "share" ? testing::FakeCloud::Fate::fail : testing::FakeCloud::Fate::answer;
  };
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world_.status(id), "queued");
  ASSERT_LE(world_.delivery(id).next_attempt_at, world_.database.clock.now() + std::chrono::minutes{1});
  EXPECT_EQ(view(id).starts_at, world_.delivery(id).next_attempt_at) << "the first attempt failed";
  world_.settle(std::chrono::minutes{10});
  ASSERT_EQ(world_.status(id), "queued");
  EXPECT_EQ(view(id).state, BuyerState::on_its_way);
  EXPECT_EQ(view(id).starts_at, world_.delivery(id).next_attempt_at);
}

TEST_F(BuyersTest, NamesAnotherUserAndTheRequestToTheWrongOneIsTakenBack) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.cloud.requests["u-ann"], 1);
  EXPECT_EQ(correct(id, "Anna"), "on_its_way");
  world_.settle();
  EXPECT_EQ(world_.cloud.requests["u-anna"], 1);
  EXPECT_EQ(world_.cloud.withdrawals["u-ann"], 1);
  world_.cloud.accept("u-anna");
  world_.settle(std::chrono::minutes{2});
  EXPECT_EQ(world_.status(id), "completed");
  EXPECT_TRUE(world_.cloud.shares.contains({"u-anna", "file-1"}));
  expect_books_balance(world_);
  minute();
  EXPECT_EQ(correct(id, "Bob"), "INVALID_TRANSITION") << "something is shared";
}

TEST_F(BuyersTest, ANameThatComesWhileTheFileIsSharedDoesNotCount) {
  world_.cloud.auto_accept = true;
  bool held = false;
  world_.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? testing::once(held, testing::FakeCloud::Fate::hold_done)
                           : testing::FakeCloud::Fate::answer;
  };
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world_.status(id), "processing");
  EXPECT_EQ(correct(id, "Bob"), "on_its_way") << "nobody knows yet that the file is shared";
  world_.cloud.release();
  world_.settle(std::chrono::minutes{2});
  EXPECT_EQ(world_.status(id), "completed");
  EXPECT_EQ(world_.delivery(id).username, "Ann");
  EXPECT_TRUE(world_.cloud.shares.contains({"u-ann", "file-1"}));
  EXPECT_EQ(world_.cloud.shares.size(), 1U);
  EXPECT_EQ(world_.balance().spent, 1);
}

TEST_F(BuyersTest, TheTimelineSaysThatTheBuyerDidIt) {
  const auto id = world_.deliver(world_.order("1", "", {"sku-1"}));
  EXPECT_EQ(view(id).state, BuyerState::username_missing);
  EXPECT_EQ(correct(id, "Ann"), "on_its_way");
  const auto seen = world_.await(world_.actions.get(world_.scheduler, world_.merchant(), id)).value();
  EXPECT_EQ(seen.username_source, UsernameSource::buyer);
  EXPECT_TRUE(
      std::ranges::any_of(seen.timeline, [](const auto& shown) { return shown.entry.actor == "buyer"; }));
}

TEST_F(BuyersTest, FiveCorrectionsOneAMinuteAndThenOnlyTheMerchant) {
  world_.cloud.unknown_users = {"X0", "X1", "X2", "X3", "X4", "X5"};
  const auto id = world_.deliver(world_.order("1", "X0", {"sku-1"}));
  EXPECT_EQ(view(id).state, BuyerState::username_not_found);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(view(id).can_correct) << i;
    EXPECT_EQ(correct(id, "X" + std::to_string(i)), "on_its_way") << i;
    world_.settle();
    EXPECT_EQ(view(id).state, BuyerState::username_not_found) << i;
    if (i < 5) {
      EXPECT_TRUE(view(id).can_act_at);
      EXPECT_EQ(correct(id, "Ann"), "RATE_LIMIT_EXCEEDED");
    }
    minute();
    EXPECT_FALSE(view(id).can_act_at);
  }
  EXPECT_FALSE(view(id).can_correct);
  EXPECT_EQ(correct(id, "Ann"), "LIMIT_REACHED");
  ASSERT_TRUE(world_.await(world_.actions.retry(world_.scheduler, world_.merchant(), id, "Ann")));
  world_.settle();
  EXPECT_EQ(view(id).state, BuyerState::accept_request);
}

TEST_F(BuyersTest, ThreeNewRequestsAfterARefusal) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(retry(id), "INVALID_TRANSITION") << "it waits for the buyer";
  for (int i = 1; i <= 3; ++i) {
    world_.cloud.change("u-ann", cloud::FriendshipState::declined);
    world_.settle(std::chrono::minutes{2});
    EXPECT_EQ(view(id).state, BuyerState::declined) << i;
    EXPECT_TRUE(view(id).can_retry) << i;
    EXPECT_EQ(retry(id), "on_its_way") << i;
    world_.settle();
    EXPECT_EQ(world_.cloud.requests["u-ann"], 1 + i);
  }
  world_.cloud.change("u-ann", cloud::FriendshipState::declined);
  world_.settle(std::chrono::minutes{2});
  EXPECT_FALSE(view(id).can_retry);
  EXPECT_EQ(retry(id), "LIMIT_REACHED");
}

TEST_F(BuyersTest, WhatTheMerchantHasToMendIsADelayWithoutAName) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_TRUE(world_.await(world_.actions.reopen(world_.scheduler, world_.merchant(),
                                                 world_.deliver(world_.order("2", "", {"sku-1"})))));
  world_.cloud.unknown_files = {"file-1"};
  world_.cloud.accept("u-ann");
  world_.settle(std::chrono::minutes{2});
  EXPECT_EQ(world_.status(id), "failed preset_not_found");
  const auto seen = view(id);
  EXPECT_EQ(seen.state, BuyerState::delayed);
  EXPECT_FALSE(seen.can_correct || seen.can_retry);
  EXPECT_EQ(correct(id, "Bob"), "INVALID_TRANSITION");
}

TEST_F(BuyersTest, ADeliveredOrderIsClosedOnceItsSaleIsOver) {
  world_.cloud.auto_accept = true;
  const auto order = [&](int minute, domain::Payment payment) {
    auto event = testing::later(world_, "1", {"sku-1", "sku-2"}, minute);
    event.payment = payment;
    return event;
  };
  const auto id = world_.deliver(order(0, domain::Payment::deliver));
  const auto state_after = [&](const domain::OrderEvent& event) {
    world_.accept(event);
    world_.settle();
    EXPECT_EQ(world_.status(id), "completed");
    return view(id).state;
  };
  EXPECT_EQ(state_after(order(1, domain::Payment::refunded)), BuyerState::closed);
  EXPECT_EQ(view(id).items.front().state, BuyerItemState::delivered) << "the store takes nothing back";
  EXPECT_EQ(state_after(order(2, domain::Payment::deliver)), BuyerState::delivered) << "paid again";
  EXPECT_EQ(state_after(order(3, domain::Payment::cancelled)), BuyerState::closed);
  EXPECT_EQ(state_after(order(4, domain::Payment::deliver)), BuyerState::delivered);

  auto refund = order(5, domain::Payment::deliver);
  refund.refunds = {{.id = "r1", .lines = {{.line_id = "L1", .quantity = 1}}}};
  EXPECT_EQ(state_after(refund), BuyerState::delivered) << "the other preset is still paid";
  refund.refunds.push_back({.id = "r2", .lines = {{.line_id = "L2", .quantity = 1}}});
  EXPECT_EQ(state_after(refund), BuyerState::closed);
}

TEST_F(BuyersTest, ADeliveredOrderIsClosedOnceAllOfItIsTakenBack) {
  world_.cloud.auto_accept = true;
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1", "sku-2"}));
  const auto items = world_.items(id);
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(view(id).state, BuyerState::delivered) << i;
    world_.hold_queue();
    ASSERT_TRUE(world_.await(world_.actions.revoke(world_.scheduler, world_.merchant(), id,
                                                   {.items = {items[i].id}, .username = {}})));
    ASSERT_EQ(world_.items(id)[i].status, domain::ItemStatus::revoking);
    EXPECT_EQ(view(id).items[i].state, BuyerItemState::delivered) << "nothing was taken back yet";
    world_.settle();
    EXPECT_EQ(view(id).items[i].state, BuyerItemState::taken_back);
  }
  EXPECT_EQ(view(id).state, BuyerState::closed);
}

TEST_F(BuyersTest, APresetThatIsTakenBackStaysDeliveredAsLongAsAnotherOrderGivesIt) {
  world_.cloud.auto_accept = true;
  const auto first = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  const auto second = world_.deliver(world_.order("2", "Ann", {"sku-1"}));
  const auto take_back = [&](DeliveryId id) {
    ASSERT_TRUE(world_.await(world_.actions.revoke(world_.scheduler, world_.merchant(), id, {})));
    world_.settle();
  };
  take_back(first);
  ASSERT_EQ(world_.items(first)[0].status, domain::ItemStatus::revoked);
  EXPECT_EQ(view(first).items[0].state, BuyerItemState::delivered);
  EXPECT_EQ(view(first).state, BuyerState::delivered);
  take_back(second);
  EXPECT_EQ(view(first).items[0].state, BuyerItemState::taken_back);
  EXPECT_EQ(view(first).state, BuyerState::closed);
}

TEST_F(BuyersTest, AnOrderWithoutItemsThatWasDeliveredByHandIsNotClosed) {
  auto large = testing::later(world_, "1", {}, 0);
  large.too_large = true;
  const auto id = world_.deliver(large);
  ASSERT_TRUE(world_.await(world_.actions.complete(world_.scheduler, world_.merchant(), id)));
  ASSERT_TRUE(world_.items(id).empty());
  EXPECT_EQ(view(id).state, BuyerState::delivered);
}

// Spec 13.3: looked up in the lowest job class.
TEST_F(BuyersTest, ABuyersTryComesAfterNewOrders) {
  world_.cloud.unknown_users = {"X0"};
  const auto id = world_.deliver(world_.order("1", "X0", {"sku-1"}));
  world_.hold_queue();
  EXPECT_EQ(correct(id, "Ann"), "on_its_way");
  EXPECT_EQ(job_class_of(id), domain::JobClass::retry);
  // One who has new work too keeps the better place.
  const auto both = world_.accept(world_.order("2", "", {"sku-2"})).delivery.value();
  world_.accept(world_.order("3", "Bob", {"sku-3"}));
  EXPECT_EQ(correct(both, "Bob"), "on_its_way");
  EXPECT_EQ(job_class_of(both), domain::JobClass::first_request);
}

TEST_F(BuyersTest, ACorrectionWhileAJobIsAtWorkWaitsForItAndIsObeyed) {
  world_.cloud.before = [&](const std::string& call, const std::string&) {
    return call == "find_user" && world_.cloud.count("find_user") == 1 ? testing::FakeCloud::Fate::hold
                                                                       : testing::FakeCloud::Fate::answer;
  };
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.status(id), "processing");
  EXPECT_EQ(correct(id, "Anna"), "on_its_way");
  world_.cloud.release();
  world_.settle();
  EXPECT_EQ(world_.delivery(id).username, "Anna");
  EXPECT_EQ(world_.cloud.requests["u-ann"], 0);
  EXPECT_EQ(world_.cloud.requests["u-anna"], 1);
}

}  // namespace
}  // namespace presetbridge::services
