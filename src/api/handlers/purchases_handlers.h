// Credits are bought (spec 11.2): GET /api/credits/packs, POST /api/credits/checkout, GET
// /api/credits/purchases and /{purchase}, POST /api/credits/purchases/{purchase}/refresh.
#pragma once

#include "api/router.h"
#include "net/key_budget.h"
#include "services/payments/purchases.h"

namespace presetbridge::api {

struct PurchasesDeps {
  services::Purchases& purchases;
  net::KeyBudget& checkouts;  // of one account (spec 8.6): each leaves a row
  net::KeyBudget& refreshes;  // likewise: each is some calls of the processor
};
void add_purchases_routes(Router& router, PurchasesDeps deps);

}  // namespace presetbridge::api
