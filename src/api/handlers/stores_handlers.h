// /api/integrations/{integration}/products, /mappings/preview and /test-order: the merchant's views and tests
// of a store (spec 9.2, 9.3).
#pragma once

#include "api/handlers/webhook_handlers.h"
#include "api/router.h"
#include "services/stores/mapping_preview.h"
#include "services/stores/products.h"
#include "services/stores/test_orders.h"

namespace presetbridge::api {

struct StoresDeps {
  services::Products products;
  services::MappingPreviews previews;
  services::TestOrders test_orders;
  services::Reception& reception;
};
void add_stores_routes(Router& router, const StoresDeps& deps);

}  // namespace presetbridge::api
