// GET and PATCH /api/credits, GET /api/credits/ledger and ledger.csv (spec 11.1, 11.2).
#pragma once

#include "api/router.h"
#include "services/credits/credits.h"

namespace presetbridge::api {

struct CreditsDeps {
  services::Credits& credits;
  std::int64_t usual_low_at;  // credits: the low threshold of accounts that have set none
};
void add_credits_routes(Router& router, CreditsDeps deps);

}  // namespace presetbridge::api
