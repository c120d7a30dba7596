#include "app/order_desk.h"

#include "api/bulk_handlers.h"
#include "api/orders_handlers.h"
#include "api/privacy_handlers.h"

namespace presetbridge::app {

OrderDesk::OrderDesk(Ports ports)
    : payloads_kept_(ports.payloads_kept),
      orders_(ports.commits, ports.changes, ports.directory, ports.work_came),
      jobs_(ports.commits, ports.changes.ids(), [this] { worker_.wake(); }),
      reprocess_(ports.commits, ports.changes, ports.directory, jobs_),
      worker_(ports.scheduler, ports.commits, ports.log, {&reprocess_}, ports.work_came),
      privacy_(ports.commits, ports.changes.ids()) {}

void OrderDesk::add_routes(api::Router& router) {
  api::add_orders_routes(router, {orders_, reprocess_, payloads_kept_});
  api::add_bulk_routes(router, {jobs_});
  api::add_privacy_routes(router, {privacy_});
}

}  // namespace presetbridge::app
