// Processing all orders again that a filter finds (spec 9.3).
#pragma once

#include "services/bulk/bulk_jobs.h"
#include "services/orders/orders.h"

namespace presetbridge::services {

// How many orders a job with this filter would process.
struct ReprocessPlan {
  storage::OrderCount count;
  storage::BulkJobRow job;  // its id is none: it was only asked how many
};

class BulkReprocess final : public BulkAction {
 public:
  // All outlive this.
  BulkReprocess(storage::AsyncDatabase& async_db, DeliveryChanges& changes, IntegrationDirectory& directory,
                BulkJobs& jobs)
      : async_db_(async_db), changes_(changes), directory_(directory), jobs_(jobs) {}

  // `query`: its page counts for nothing. With `dry_run` nothing is asked for. Errors: as BulkJobs::add().
  Task<Expected<ReprocessPlan>> ask(Executor& executor, identity::Principal by, OrderQuery query,
                                    bool dry_run);

  std::string_view name() const override { return "orders.reprocess"; }
  Found find(storage::Tx& tx, const storage::BulkJobRow& job, int limit) const override;
  Task<Expected<Do>> prepare(Executor& executor, const storage::BulkJobRow& job, std::int64_t id) override;
  std::string id_text(std::int64_t id) const override { return to_string(OrderId{id}); }

 private:
  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  IntegrationDirectory& directory_;
  BulkJobs& jobs_;
};

}  // namespace presetbridge::services
