// A fixture for the tests of whose the items are: names that change hands, and orders of Ann and Bob.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/testing.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services::testing {

inline domain::OrderEvent now(domain::OrderEvent event, int minute, domain::Payment payment) {
  event.updated_at = *event.updated_at + std::chrono::minutes{minute};
  event.payment = payment;
  return event;
}

class ItemsRules : public ::testing::Test {
 protected:
  void auto_revoke() { world.auto_revoke(); }
  domain::OrderEvent order(const std::string& id, const std::string& name,
                           std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, id, std::move(skus), 0);
    event.username = event.raw_username = name;
    return event;
  }
  // A refund of Ann's whole order.
  void refund(const std::string& id, std::vector<std::string> skus = {"sku-1"}) {
    world.accept(now(order(id, "Ann", std::move(skus)), 1, domain::Payment::refunded));
  }
  // Ann has a file of order 1, and her order 2 of it waits for a new friendship.
  DeliveryId waiting_beside_a_share() {
    auto_revoke();
    world.deliver(order("1", "Ann"));
    end_friendship("u-ann");
    const auto waiting = world.deliver(order("2", "Ann"));
    EXPECT_EQ(world.status(waiting), "waiting_for_friendship");
    return waiting;
  }
  void take_credits_away() {
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE accounts SET granted = spent WHERE id = $1"}, world.account);
    });
  }
  // Ann's user is deleted, and somebody else registers the name.
  static void hand_over(FakeCloud& cloud) {
    cloud.gone.insert("u-ann");
    cloud.other_ids["Ann"] = "u-new";
  }
  // The customer is not a friend any more, and does not accept requests.
  void end_friendship(const std::string& user) {
    world.cloud.auto_accept = false;
    world.cloud.friendships[user] = cloud::FriendshipState::none;
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE customers SET friendship = 'none' WHERE cloud_user_id = $1"}, user);
    });
  }
  Expected<DeliveryView> retry(DeliveryId id, std::optional<std::string> name = std::nullopt) {
    return world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::move(name)));
  }
  Expected<DeliveryView> revoke(DeliveryId id, RevokeQuery which = {}) {
    return world.await(world.actions.revoke(world.scheduler, world.merchant(), id, std::move(which)));
  }
  // Ann was charged for the file, which was taken back and is owed again, to Bob now. No credit is left.
  DeliveryId charged_to_ann_and_owed_to_bob() {
    auto_revoke();
    const auto id = world.deliver(order("1", "Ann"));
    world.accept(now(order("1", "Ann"), 1, domain::Payment::cancelled));
    world.settle();
    world.hold_queue();
    world.accept(now(order("1", "Ann"), 2, domain::Payment::deliver));
    EXPECT_TRUE(retry(id, "Bob"));
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE accounts SET granted = spent WHERE id = $1"}, world.account);
    });
    world.settle();
    return id;
  }
  bool has(const std::string& user, const std::string& file) const {
    return world.cloud.shares.contains({user, file});
  }
  int completed_entries(DeliveryId id) {
    const auto timeline = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 100); });
    return static_cast<int>(std::ranges::count(timeline, "completed", &storage::TimelineEntry::status));
  }

  World world;
};

}  // namespace presetbridge::services::testing
