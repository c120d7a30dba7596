#include "storage/stores/bulk_store.h"

#include <vector>

#include "base/id_time.h"

namespace presetbridge::storage {
namespace {

#define PDB_BULK_COLUMNS                                                                            \
  "id, account_id, action, actor, integration_ids, filter, as_of, done_to, total, total_is_exact, " \
  "done, failed, failures, created_at, finished_at, eligible, excluded, fault"
constexpr Sql kInsert{
    "INSERT INTO bulk_jobs (" PDB_BULK_COLUMNS
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"};
constexpr Sql kFind{"SELECT " PDB_BULK_COLUMNS " FROM bulk_jobs WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_BULK_COLUMNS " FROM bulk_jobs WHERE id = $1 <lock>"};
constexpr Sql kUpdate{
    "UPDATE bulk_jobs SET done_to = $2, done = $3, failed = $4, failures = $5, finished_at = $6,"
    " filter = $7, fault = $8 WHERE id = $1"};
constexpr Sql kCountUnderWay{"SELECT count(*) FROM bulk_jobs WHERE account_id = $1 AND finished_at IS NULL"};
constexpr Sql kNext{"SELECT id FROM bulk_jobs WHERE finished_at IS NULL AND id > $1 ORDER BY id LIMIT 1"};
constexpr Sql kFindOld{
    "SELECT id FROM bulk_jobs WHERE id < $1 AND finished_at IS NOT NULL ORDER BY id LIMIT $2"};
constexpr Sql kDelete{"DELETE FROM bulk_jobs WHERE id = $1"};

BulkJobRow read_job(const Row& r) {
  return {.id = r.id<BulkJobId>(0),
          .account = r.id<AccountId>(1),
          .action = r.string(2),
          .actor = r.string(3),
          .integration_ids = r.string(4),
          .filter = r.string(5),
          .as_of = r.time(6),
          .done_to = r.int64(7),
          .total = r.int64(8),
          .total_is_exact = r.flag(9),
          .eligible = r.opt_int64(15),
          .excluded = r.string(16),
          .done = r.int64(10),
          .failed = r.int64(11),
          .failures = r.string(12),
          .created_at = r.time(13),
          .finished_at = r.opt_time(14),
          .fault = r.string(17)};
}

}  // namespace

void insert_bulk_job(Tx& tx, const BulkJobRow& j) {
  tx.exec(kInsert, j.id, j.account, j.action, j.actor, j.integration_ids, j.filter, j.as_of, j.done_to,
          j.total, j.total_is_exact, j.done, j.failed, j.failures, j.created_at, j.finished_at, j.eligible,
          j.excluded, j.fault);
  tx.changes().push_back(changed(ChangeKind::bulk, j.account, j.id));
}
std::optional<BulkJobRow> find_bulk_job(Tx& tx, BulkJobId id) {
  return tx.one(kFind, id, read_job);
}
std::optional<BulkJobRow> lock_bulk_job(Tx& tx, BulkJobId id) {
  return tx.one(kLock, id, read_job);
}
void update_bulk_job(Tx& tx, const BulkJobRow& j) {
  tx.exec(kUpdate, j.id, j.done_to, j.done, j.failed, j.failures, j.finished_at, j.filter, j.fault);
  tx.changes().push_back(changed(ChangeKind::bulk, j.account, j.id));
}
std::int64_t count_bulk_jobs_under_way(Tx& tx, AccountId account) {
  return tx.one(kCountUnderWay, account, [](const Row& r) { return r.int64(0); }).value();
}
std::optional<BulkJobId> next_bulk_job(Tx& tx, BulkJobId after) {
  return tx.one(kNext, after, [](const Row& r) { return r.id<BulkJobId>(0); });
}
std::int64_t delete_old_bulk_jobs(Tx& tx, Timestamp before, int limit) {
  std::vector<BulkJobId> old;
  tx.query(kFindOld, first_id_at(before), limit, [&](const Row& r) { old.push_back(r.id<BulkJobId>(0)); });
  if (!old.empty()) tx.exec_many(kDelete, 1, params_of<BulkJobId>(old));
  return std::ssize(old);
}

}  // namespace presetbridge::storage
