// Customers' data (spec 9.6): the data of a person, by an e-mail address or a username, and its erasure.
// Erased of each of their orders is what intake/privacy.h says; ids, ledger and dedupe keys stay. Later
// orders, and orders in which the person has another name, are not included.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/principal.h"
#include "services/bulk/bulk_jobs.h"
#include "services/delivery/change.h"
#include "storage/commit/async_database.h"
#include "storage/stores/customer_orders.h"

namespace presetbridge::services {

// Orders that are scanned for one page, of which at most kCustomerPage are returned.
inline constexpr int kCustomerLook = 1'000;
inline constexpr int kCustomerPage = 20;

inline constexpr std::string_view kEraseCustomers = "customers.erase";

struct ErasurePlan {
  storage::OrderCount count;
  storage::BulkJobRow job;  // its id is none: it was only asked how many
};

// Thread-safe.
class Customers final : public BulkAction {
 public:
  // All outlive this.
  Customers(storage::AsyncDatabase& async_db, DeliveryChanges& changes, BulkJobs& jobs)
      : async_db_(async_db), changes_(changes), jobs_(jobs) {}

  // Orders of the person after `after`, oldest first; a page may be short, even empty, and have a next one.
  Task<Expected<storage::OrderWalk>> find(Executor& executor, identity::Principal by,
                                          storage::CustomerName who, OrderId after, int limit);
  // Erases the person from all orders of now, by a job; with `dry_run` it only counts them.
  // LIMIT_REACHED: as BulkJobs::add().
  Task<Expected<ErasurePlan>> erase(Executor& executor, identity::Principal by, storage::CustomerName who,
                                    bool dry_run);

  // The filter text of a job.
  static std::string filter_of(const storage::CustomerName& who);
  std::string_view name() const override { return kEraseCustomers; }
  Found find(storage::Tx& tx, const storage::BulkJobRow& job, int limit) const override;
  Task<Expected<Do>> prepare(Executor& executor, const storage::BulkJobRow& job, std::int64_t id) override;
  std::string id_text(std::int64_t id) const override { return to_string(OrderId{id}); }

 private:
  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  BulkJobs& jobs_;
};

}  // namespace presetbridge::services
