// GET /api/events: the changes of an account as server-sent events (spec 13.1). buyer_handlers.h has those
// of a buyer's delivery.
#pragma once

#include <string>
#include <vector>

#include "api/router.h"
#include "base/shared_slots.h"
#include "net/client_address.h"
#include "services/live/live_changes.h"

namespace presetbridge::api {

// The greatest numbers of readers at a time (spec 8.6).
struct ReaderLimits {
  std::vector<net::IpNetwork> proxies;  // as of client_address()
  int of_one = 0;                       // of one account, or of one delivery whose link is open
  int of_network = 0;                   // of one client network, unless it speaks for others
};
// A reader's slot, counted for `one` (an account or a delivery) and for the client's network; nothing: a
// limit is reached.
std::optional<SharedSlots::Slot> take_slot(SharedSlots& budget, const ReaderLimits& limits,
                                           const net::HttpRequest& request, std::string one);
// 429 with Retry-After, for a reader without a slot.
Reply no_slot();
// The answer to a request for events.
net::HttpResponse event_stream(std::shared_ptr<net::BodyStream> stream);
// The request's Last-Event-ID; empty: none.
std::string last_event_id(const net::HttpRequest& request);

struct EventsDeps {
  services::LiveChanges& changes;
  SharedSlots& readers;
  ReaderLimits limits;
};
void add_events_routes(Router& router, const EventsDeps& deps);

}  // namespace presetbridge::api
