#include "storage/stores/bulk_store.h"

#include <tuple>
#include <vector>

#include "base/id_time.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &BulkJobRow::id, Update::key},
    Column{"account_id", &BulkJobRow::account, Update::no},
    Column{"action", &BulkJobRow::action, Update::no},
    Column{"actor", &BulkJobRow::actor, Update::no},
    Column{"integration_ids", &BulkJobRow::integration_ids, Update::no},
    Column{"filter", &BulkJobRow::filter},
    Column{"as_of", &BulkJobRow::as_of, Update::no},
    Column{"done_to", &BulkJobRow::done_to},
    Column{"total", &BulkJobRow::total, Update::no},
    Column{"total_is_exact", &BulkJobRow::total_is_exact, Update::no},
    Column{"eligible", &BulkJobRow::eligible, Update::no},
    Column{"excluded", &BulkJobRow::excluded, Update::no},
    Column{"done", &BulkJobRow::done},
    Column{"failed", &BulkJobRow::failed},
    Column{"failures", &BulkJobRow::failures},
    Column{"created_at", &BulkJobRow::created_at, Update::no},
    Column{"finished_at", &BulkJobRow::finished_at},
    Column{"fault", &BulkJobRow::fault},
};
constexpr auto read_job = read_row<BulkJobRow, kColumns>;

constexpr Sql kInsert = sql<"INSERT INTO bulk_jobs ", kInsertion<kColumns>>;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM bulk_jobs WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM bulk_jobs WHERE id = $1 <lock>">;
constexpr Sql kUpdate = sql<"UPDATE bulk_jobs SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
constexpr Sql kCountUnderWay{"SELECT count(*) FROM bulk_jobs WHERE account_id = $1 AND finished_at IS NULL"};
constexpr Sql kNext{"SELECT id FROM bulk_jobs WHERE finished_at IS NULL AND id > $1 ORDER BY id LIMIT 1"};
constexpr Sql kFindOld{
    "SELECT id FROM bulk_jobs WHERE id < $1 AND finished_at IS NOT NULL ORDER BY id LIMIT $2"};
constexpr Sql kDelete{"DELETE FROM bulk_jobs WHERE id = $1"};

}  // namespace

void insert_bulk_job(Tx& tx, const BulkJobRow& j) {
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(j, texts));
  tx.changes().push_back(changed(ChangeKind::bulk, j.account, j.id));
}
std::optional<BulkJobRow> find_bulk_job(Tx& tx, BulkJobId id) {
  return tx.one(kFind, id, read_job);
}
std::optional<BulkJobRow> lock_bulk_job(Tx& tx, BulkJobId id) {
  return tx.one(kLock, id, read_job);
}
void update_bulk_job(Tx& tx, const BulkJobRow& j) {
  Texts texts;
  tx.exec_params(kUpdate, update_params<kColumns>(j, texts));
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
