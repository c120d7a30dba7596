// The orders of a person (spec 9.6), found by an e-mail address or a username, and the erasure of the
// person from them. intake/privacy.h says what is erased; ids, ledger and dedupe keys stay. Later orders,
// and orders in which the person has another name, are not included; neither are orders of others who gave
// the person's name by mistake, as storage/stores/customer_orders.h says.
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
inline constexpr int kCustomerScan = 1'000;
inline constexpr int kCustomerPage = 20;

inline constexpr std::string_view kEraseCustomers = "customers.erase";

struct ErasurePlan {
  storage::OrderCount count;
  storage::BulkJobRow job;  // without an id: the orders were only counted
};

// Thread-safe.
class Customers final : public BulkAction {
 public:
  // All outlive this.
  Customers(storage::AsyncDatabase& async_db, DeliveryChanges& changes, BulkJobs& jobs)
      : async_db_(async_db), changes_(changes), jobs_(jobs) {}

  // Orders of the person after `after`, oldest first. A short page, even an empty one, may have a next one.
  Task<Expected<storage::OrderWalk>> find(Executor& executor, identity::Principal by,
                                          storage::CustomerName who, OrderId after, int limit);
  // Adds a job that erases the person from all present orders; with `dry_run` it only counts them.
  // LIMIT_REACHED: too many jobs of the account are under way.
  Task<Expected<ErasurePlan>> erase(Executor& executor, identity::Principal by, storage::CustomerName who,
                                    bool dry_run);

  // BulkJobRow::filter of a job.
  static std::string filter_of(const storage::CustomerName& who);
  // An erasure is finished, whoever asked for it.
  bool ends_with_its_caller() const override { return false; }
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
