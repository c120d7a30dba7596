#include "services/webhooks/outbound_rows.h"

#include <string>
#include <utility>

#include "base/time.h"
#include "services/webhooks/event_uuid.h"

namespace presetbridge::services {

void add_account_event(OutboundRows& rows, EventOrigin origin, AccountId account, domain::EventType type,
                       std::span<const SubscriptionId> subscribers, boost::json::object fields) {
  if (subscribers.empty()) return;
  const auto event = origin.ids.make<EventId>();
  const auto name = domain::to_string(type);
  const auto uuid = event_uuid(event, origin.random);
  boost::json::object body{{"id", uuid}, {"type", name}, {"createdAt", to_iso8601(origin.now)}};
  for (auto& [field, value] : fields) body[field] = std::move(value);
  rows.events.push_back({.id = event,
                         .account = account,
                         .delivery = {},
                         .type = std::string(name),
                         .uuid = uuid,
                         .body = boost::json::serialize(body),
                         .created_at = origin.now});
  for (const auto subscription : subscribers)
    rows.dispatches.push_back({origin.ids.next(), subscription, event, origin.now});
}

}  // namespace presetbridge::services
