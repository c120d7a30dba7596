// The order desk joins the parts of the service that show orders and process them again, one or many
// (spec 9.3, 9.6).
#pragma once

#include <functional>

#include "api/router.h"
#include "services/bulk_jobs.h"
#include "services/bulk_reprocess.h"
#include "services/orders.h"
#include "services/privacy_inbox.h"

namespace presetbridge::app {

class OrderDesk {
 public:
  struct Ports {
    storage::GroupCommit& commits;
    services::DeliveryChanges& changes;
    services::IntegrationDirectory& directory;
    Scheduler& scheduler;  // of the jobs
    Log& log;
    Millis payloads_kept;
    std::function<void()> work_came;
  };
  // All that the ports refer to outlives this.
  explicit OrderDesk(Ports ports);

  void add_routes(api::Router& router);
  // On the scheduler, as stop().
  void start() { worker_.start(); }
  void stop(Callback stopped) { worker_.stop(std::move(stopped)); }

 private:
  const Millis payloads_kept_;
  services::Orders orders_;
  services::BulkJobs jobs_;
  services::BulkReprocess reprocess_;
  services::BulkWorker worker_;
  services::PrivacyInbox privacy_;
};

}  // namespace presetbridge::app
