// /api/integrations/{integration}/products, /mappings/preview and /test-order: what a merchant sees and tries
// of a store (spec 9.2, 9.3).
#pragma once

#include "api/router.h"
#include "api/webhook_handlers.h"
#include "services/mapping_preview.h"
#include "services/products.h"
#include "services/test_orders.h"

namespace presetbridge::api {

struct StoresDeps {
  services::Products products;
  services::MappingPreviews previews;
  services::TestOrders test_orders;
  WebhookDeps webhooks;  // the way that test orders go
};
void add_stores_routes(Router& router, const StoresDeps& deps);

}  // namespace presetbridge::api
