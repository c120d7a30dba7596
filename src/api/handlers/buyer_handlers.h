// /api/buyer: one delivery, for the buyer who has its link (spec 13.3).
#pragma once

#include "api/handlers/events_handlers.h"
#include "api/router.h"
#include "net/key_budget.h"
#include "net/network_budget.h"
#include "services/buyers/buyers.h"
#include "services/live/buyer_changes.h"

namespace presetbridge::api {

// How buyers know the cloud platform; each may be empty.
struct PlatformWords {
  std::string name;
  std::string friend_requests_url;  // where a user answers friend requests
  std::string app_url;              // where a user finds what was shared
};

// The parts for readers of a delivery's events.
struct BuyerReaders {
  services::BuyerChanges& changes;
  SharedSlots& readers;
  ReaderLimits limits;
};

struct BuyerDeps {
  services::Buyers& buyers;
  net::NetworkBudget& failures;  // of tokens that open nothing
  net::KeyBudget& reads;         // of one delivery's link
  PlatformWords platform;
  BuyerReaders live;
};
void add_buyer_routes(Router& router, const BuyerDeps& deps);

}  // namespace presetbridge::api
