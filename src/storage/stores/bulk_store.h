// Rows of actions on all deliveries or orders that a filter finds (spec 9.3, 9.4).
// services/bulk/bulk_jobs.h decides what the action, its filter and its steps mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct BulkJobRow {
  BulkJobId id;
  AccountId account;
  std::string action;
  std::string actor;            // domain::to_string(Actor)
  std::string integration_ids;  // identity::IntegrationScope of the caller; empty: all
  std::string filter;           // JSON
  Timestamp as_of;
  std::int64_t done_to = 0;  // the last id that it has handled
  std::int64_t total = 0;    // at the beginning
  bool total_is_exact = true;
  std::optional<std::int64_t> eligible = {};  // how many of them the action applies to; nothing: all
  std::string excluded = "[]";                // JSON: the others
  std::int64_t done = 0;
  std::int64_t failed = 0;
  std::string failures = "[]";  // JSON
  Timestamp created_at;
  std::optional<Timestamp> finished_at;
  std::string fault = {};  // why it ended before it was done; empty: it did not
};

void insert_bulk_job(Tx& tx, const BulkJobRow& row);
std::optional<BulkJobRow> find_bulk_job(Tx& tx, BulkJobId id);
// Nothing where another transaction has it locked.
std::optional<BulkJobRow> lock_bulk_job(Tx& tx, BulkJobId id);
// Writes filter, done_to, done, failed, failures, finished_at and fault.
void update_bulk_job(Tx& tx, const BulkJobRow& row);
std::int64_t count_bulk_jobs_under_way(Tx& tx, AccountId account);
// The next job under way of any account, with an id after `after` (none: the oldest).
std::optional<BulkJobId> next_bulk_job(Tx& tx, BulkJobId after);
// Deletes at most `limit` jobs that ended and were made before `before`; returns how many.
std::int64_t delete_old_bulk_jobs(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
