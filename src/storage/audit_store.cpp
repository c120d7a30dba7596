#include "storage/audit_store.h"

#include <utility>
#include <vector>

namespace presetbridge::storage {
namespace {

constexpr Sql kInsert{
    "INSERT INTO audit_log (id, account_id, at, actor, action, target, detail) VALUES ($1, $2, $3, $4, $5, "
    "$6, $7)"};
constexpr Sql kList{
    "SELECT id, at, actor, action, target, detail FROM audit_log WHERE account_id = $1 AND id < $2"
    " ORDER BY id DESC LIMIT $3"};
// Ids grow with time, so the oldest rows are the first.
constexpr Sql kDelete{
    "DELETE FROM audit_log WHERE id IN (SELECT id FROM (SELECT id, at FROM audit_log ORDER BY id LIMIT $2) "
    "AS oldest"
    " WHERE at < $1)"};

}  // namespace

void insert_audit(Tx& tx, IdSource& ids, const AuditEntry& entry) {
  tx.exec(kInsert, ids.next(), entry.account, tx.now(), entry.actor, entry.action, entry.target,
          entry.detail);
}

Page<AuditRow> list_audit(Tx& tx, AccountId account, const PageRequest& page) {
  std::vector<AuditRow> rows;
  tx.query(kList, account, page.before, page.fetch(), [&](const Row& r) {
    rows.push_back({r.int64(0), r.time(1), r.string(2), r.string(3), r.string(4), r.string(5)});
  });
  return make_page(std::move(rows), page, [](const AuditRow& row) { return row.id; });
}

std::int64_t delete_audit(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDelete, before, limit);
}

}  // namespace presetbridge::storage
