// /api/orders: stores' orders, also those that deliver nothing, and their reprocessing (spec 9.3).
#pragma once

#include "api/router.h"
#include "services/bulk/bulk_reprocess.h"
#include "services/orders/orders.h"

namespace presetbridge::api {

struct OrdersDeps {
  services::Orders& orders;
  services::BulkReprocess& bulk;
  Millis payload_retention;  // how long, from their receipt
};
// The order with its lines: the answer of every operation on one order.
json::object order_json(const OrdersDeps& deps, const services::OrderView& view);
void add_orders_routes(Router& router, OrdersDeps deps);

}  // namespace presetbridge::api
