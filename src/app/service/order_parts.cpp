#include "app/service/order_parts.h"

#include "api/handlers/bulk_handlers.h"
#include "api/handlers/customers_handlers.h"
#include "api/handlers/orders_handlers.h"
#include "api/handlers/privacy_handlers.h"

namespace presetbridge::app {

OrderParts::OrderParts(Ports ports)
    : payload_retention_(ports.payload_retention),
      orders_(ports.async_db, ports.changes, ports.directory, ports.work_came),
      jobs_(ports.async_db, ports.changes.ids(), [this] { worker_.wake(); }),
      reprocess_(ports.async_db, ports.changes, ports.directory, jobs_),
      on_deliveries_(ports.async_db, ports.deliveries, jobs_),
      customers_(ports.async_db, ports.changes, jobs_),
      worker_(ports.scheduler, ports.async_db, ports.log, actions(), ports.work_came),
      privacy_(ports.async_db, ports.changes.ids()) {}

std::vector<services::BulkAction*> OrderParts::actions() {
  std::vector<services::BulkAction*> all{&reprocess_, &customers_};
  for (auto* const action : on_deliveries_.actions()) all.push_back(action);
  return all;
}

void OrderParts::add_routes(api::Router& router, const api::DeliveriesDeps& of_deliveries) {
  const api::OrdersDeps of_orders{orders_, reprocess_, payload_retention_};
  api::add_orders_routes(router, of_orders);
  api::add_customers_routes(router, {customers_, of_orders, of_deliveries});
  api::add_bulk_routes(router, {jobs_, on_deliveries_});
  api::add_privacy_routes(router, {privacy_});
}

}  // namespace presetbridge::app
