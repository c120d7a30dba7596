// Rows of outbound events and of their dispatches, gathered until they are written; and the events of an
// account, which concern no delivery (spec 10.1).
#pragma once

#include <span>
#include <vector>

#include <boost/json.hpp>

#include "base/clock.h"
#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/stores/event_store.h"

namespace presetbridge::services {

struct OutboundRows {
  std::vector<storage::EventRow> events;
  std::vector<storage::DispatchRow> dispatches;
};
// The sources of an event's id, random bytes and time.
struct EventOrigin {
  IdSource& ids;
  Random& random;
  Timestamp now;
};

// Adds an event of the account to `rows`, and a dispatch of it to each of `subscribers`; without a subscriber
// it adds nothing. The event's body has id, type and createdAt, then `fields`, which have none of these names.
void add_account_event(OutboundRows& rows, EventOrigin origin, AccountId account, domain::EventType type,
                       std::span<const SubscriptionId> subscribers, boost::json::object fields);

}  // namespace presetbridge::services
