// These parts joins the parts of the service that show orders and process them again, and that act on many
// orders or deliveries at once (spec 9.3, 9.4, 9.6).
#pragma once

#include <functional>
#include <vector>

#include "api/handlers/deliveries_handlers.h"
#include "api/router.h"
#include "services/bulk/bulk_deliveries.h"
#include "services/bulk/bulk_jobs.h"
#include "services/bulk/bulk_reprocess.h"
#include "services/buyers/customers.h"
#include "services/orders/orders.h"
#include "services/stores/privacy_inbox.h"

namespace presetbridge::app {

class OrderParts {
 public:
  struct Ports {
    storage::AsyncDatabase& async_db;
    services::DeliveryChanges& changes;
    services::IntegrationDirectory& directory;
    services::DeliveryActions& deliveries;
    Scheduler& scheduler;  // of the jobs
    Log& log;
    Millis payload_retention;
    std::function<void()> work_came;
  };
  // All that the ports refer to outlives this.
  explicit OrderParts(Ports ports);

  void add_routes(api::Router& router, const api::DeliveriesDeps& of_deliveries);
  // On the scheduler, as stop().
  void start() { worker_.start(); }
  // Any thread: somebody else has asked for a job on many.
  void job_came() { worker_.wake(); }
  void stop(Callback stopped) { worker_.stop(std::move(stopped)); }

 private:
  std::vector<services::BulkAction*> actions();

  const Millis payload_retention_;
  services::Orders orders_;
  services::BulkJobs jobs_;
  services::BulkReprocess reprocess_;
  services::BulkDeliveries on_deliveries_;
  services::Customers customers_;
  services::BulkWorker worker_;
  services::PrivacyInbox privacy_;
};

}  // namespace presetbridge::app
