// A fixture for the tests of the end of an order: a shop with a trash, and approvals after a stop.
#pragma once

#include "services/delivery/order_rules_testing.h"

namespace presetbridge::services::testing {

class EndRules : public OrderRules {
 protected:
  // An event of a shop that has a trash.
  static domain::OrderEvent of_plugin(domain::OrderEvent event) {
    event.provider = domain::Provider::provider_b;
    return event;
  }
  domain::OrderEvent trash(int minute) {
    auto event = of_plugin(paid(minute, domain::Payment::cancelled));
    event.trashed = true;
    return event;
  }
  // The shop deletes an order that was in its trash.
  static domain::OrderEvent deletion() {
    domain::OrderEvent event{
        .kind = domain::OrderEvent::Kind::stop, .provider = domain::Provider::provider_b, .order_id = "1"};
    event.payment = domain::Payment::cancelled;
    event.trashed = true;
    return event;
  }
  // A paid order is delivered in a store that wants files taken back.
  DeliveryId deliver_revocably() {
    auto_revoke();
    return deliver(paid(0, domain::Payment::deliver));
  }
  void reopen_and_approve(DeliveryId id) {
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
    ASSERT_TRUE(approve(id));
  }
};

}  // namespace presetbridge::services::testing
