// /api/orders: stores' orders, those that deliver nothing included, and processing them again (spec 9.3).
#pragma once

#include "api/router.h"
#include "services/bulk/bulk_reprocess.h"
#include "services/orders/orders.h"

namespace presetbridge::api {

struct OrdersDeps {
  services::Orders& orders;
  services::BulkReprocess& bulk;
  Millis payloads_kept;  // for so long
};
// The order with its lines, as every operation on one answers with it.
json::object order_json(const OrdersDeps& deps, const services::OrderView& view);
void add_orders_routes(Router& router, OrdersDeps deps);

}  // namespace presetbridge::api
