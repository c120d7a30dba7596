// /api/orders: what stores told, those that deliver nothing included, and processing it again (spec 9.3).
#pragma once

#include "api/router.h"
#include "services/bulk_reprocess.h"
#include "services/orders.h"

namespace presetbridge::api {

struct OrdersDeps {
  services::Orders& orders;
  services::BulkReprocess& bulk;
  Millis payloads_kept;  // for so long
};
void add_orders_routes(Router& router, OrdersDeps deps);

}  // namespace presetbridge::api
