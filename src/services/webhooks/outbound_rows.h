// Outbound events on their way to the database, and those that are of no delivery but of the account
// (spec 10.1).
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
// Where an event's id, chance and time come from.
struct EventOrigin {
  IdSource& ids;
  Random& random;
  Timestamp now;
};

// The body: id, type and createdAt, then `fields`. Nothing is added where there is no subscriber.
void add_account_event(OutboundRows& rows, EventOrigin origin, AccountId account, domain::EventType type,
                       std::span<const SubscriptionId> subscribers, boost::json::object fields);

}  // namespace presetbridge::services
