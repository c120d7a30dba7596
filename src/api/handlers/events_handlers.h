// GET /api/events: what changes of the account, as server-sent events (spec 13.1). The buyer's are in
// buyer_handlers.h.
#pragma once

#include <string>
#include <vector>

#include "api/router.h"
#include "net/client_address.h"
#include "services/live/live_changes.h"
#include "services/live/reader_budget.h"

namespace presetbridge::api {

// The limits that readers share (spec 8.6).
struct ReaderLimits {
  std::vector<net::IpNetwork> proxies;  // as of client_address()
  int of_one = 0;                       // an account, or a delivery whose link is open
  int of_network = 0;                   // a client network, unless it speaks for others
};
// A place for whoever asks, as `one` of those; nothing: there is none.
std::optional<services::ReaderBudget::Place> take_place(services::ReaderBudget& budget,
                                                        const ReaderLimits& limits,
                                                        const net::HttpRequest& request, std::string one);
// 429, to come again in a moment.
Reply no_place();
// The answer to a request for events.
net::HttpResponse event_stream(std::shared_ptr<net::BodyStream> stream);
// The request's Last-Event-ID; empty: none.
std::string last_event_id(const net::HttpRequest& request);

struct EventsDeps {
  services::LiveChanges& changes;
  services::ReaderBudget& readers;
  ReaderLimits limits;
};
void add_events_routes(Router& router, const EventsDeps& deps);

}  // namespace presetbridge::api
