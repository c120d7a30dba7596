// A fixture for histories in which several rules meet.
#pragma once

#include <string>

#include "services/delivery/order_rules_testing.h"

namespace presetbridge::services::testing {

class CombinedRules : public OrderRules {
 protected:
  Expected<DeliveryView> reopen(DeliveryId id) {
    return world.await(world.actions.reopen(world.scheduler, world.merchant(), id));
  }
  void fail_calls(const std::string& failing, FakeCloud::Fate fate) {
    world.cloud.before = [failing, fate](auto& call, auto&) {
      return call == failing ? fate : FakeCloud::Fate::answer;
    };
  }
  // The platform was asked to revoke the file, and has not answered.
  void approve_while_it_is_revoked(DeliveryId id) {
    settle();
    ASSERT_EQ(world.cloud.held(), 1U);
    ASSERT_TRUE(reopen(id));
    ASSERT_TRUE(approve(id));
  }
  void end_revocation() {
    world.cloud.before = nullptr;
    world.cloud.release();
    settle(std::chrono::hours{1});
  }
  domain::ItemStatus item(DeliveryId id, std::size_t n = 0) { return world.items(id).at(n).status; }
  // A paid event of the order that is too large to be read.
  domain::OrderEvent too_large(int minute) {
    auto event = later(world, "1", {}, minute);
    event.too_large = true;
    return event;
  }
};

}  // namespace presetbridge::services::testing
