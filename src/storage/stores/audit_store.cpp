#include "storage/stores/audit_store.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/id_time.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

// An entry as it is written; an AuditRow, as it is read, has the same names.
struct WrittenEntry : AuditEntry {
  std::int64_t id;
  Timestamp at;
};
constexpr std::tuple kColumns{
    Column{"id", [](auto& row) -> auto& { return row.id; }},
    Computed{"account_id", [](const WrittenEntry& entry) { return entry.account; }, Select::no},
    Column{"at", [](auto& row) -> auto& { return row.at; }},
    Column{"actor", [](auto& row) -> auto& { return row.actor; }},
    Column{"action", [](auto& row) -> auto& { return row.action; }},
    Column{"target", [](auto& row) -> auto& { return row.target; }},
    Column{"detail", [](auto& row) -> auto& { return row.detail; }},
    Column{"changes", [](auto& row) -> auto& { return row.changes; }},
    Column{"network", [](auto& row) -> auto& { return row.network; }},
    Column{"request_id", [](auto& row) -> auto& { return row.request_id; }},
    Column{"actor_name", [](auto& row) -> auto& { return row.actor_name; }},
};
constexpr int kId = column_of<kColumns>("id");
constexpr int kActor = column_of<kColumns>("actor");
constexpr int kAction = column_of<kColumns>("action");
constexpr int kTarget = column_of<kColumns>("target");

constexpr Sql kInsert = sql<"INSERT INTO audit_log ", kInsertion<kColumns>>;
constexpr Sql kList =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM audit_log WHERE account_id = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4">;
constexpr Sql kPersonName{
    "SELECT i.email, (SELECT email FROM users WHERE id = i.user_id) FROM identities i"
    " WHERE i.account_id = $1 AND i.user_id = $2"};
constexpr Sql kKeyName{"SELECT name FROM api_keys WHERE id = $2 AND account_id = $1"};
constexpr int kBatch = 500;
// Ids grow with time, so the oldest rows are the first.
constexpr Sql kDelete{
    "DELETE FROM audit_log WHERE id IN (SELECT id FROM (SELECT id, at FROM audit_log ORDER BY id LIMIT $2) "
    "AS oldest"
    " WHERE at < $1)"};

bool fits(const AuditFilter& filter, const Row& r) {
  const auto action = r.text(kAction);
  const bool of_kind = filter.action.ends_with('.') ? action.starts_with(filter.action)
                                                    : filter.action.empty() || action == filter.action;
  return of_kind && (filter.actor.empty() || r.text(kActor) == filter.actor) &&
         (filter.target.empty() || r.text(kTarget) == filter.target);
}

// The present name of a person or key of the account.
std::string name_of(Tx& tx, AccountId account, std::string_view actor) {
  if (const auto person = parse_id<UserKind>(actor)) {
    return tx
        .one(kPersonName, account, *person,
             [](const Row& r) { return r.is_null(1) ? r.string(0) : r.string(1); })
        .value_or("");
  }
  const auto key = parse_id<ApiKeyKind>(actor);
  if (!key) return {};
  return tx.one(kKeyName, account, *key, [](const Row& r) { return r.string(0); }).value_or("");
}

void name_actors(Tx& tx, AccountId account, std::vector<AuditRow>& rows) {
  std::map<std::string, std::string, std::less<>> names;
  for (auto& row : rows) {
    if (!row.actor_name.empty()) continue;
    auto [name, is_new] = names.try_emplace(row.actor);
    if (is_new) name->second = name_of(tx, account, row.actor);
    row.actor_name = name->second;
  }
}

}  // namespace

std::int64_t insert_audit(Tx& tx, IdSource& ids, const AuditEntry& entry) {
  const auto id = ids.next();
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(WrittenEntry{entry, id, tx.now()}, texts));
  return id;
}

Page<AuditRow> list_audit(Tx& tx, AccountId account, const PageRequest& page, const AuditFilter& filter) {
  std::vector<AuditRow> rows;
  std::optional<std::int64_t> next;
  auto before = page.before;
  if (filter.to) before = std::min(before, first_id_at(*filter.to));
  const auto first = filter.from ? first_id_at(*filter.from) : 0;
  for (int scanned = 0; scanned < kAuditScanLimit; scanned += kBatch) {
    const int limit = scanned == 0 ? page.fetch() : kBatch;
    int found = 0;
    tx.query(kList, account, before, first, limit, [&](const Row& r) {
      ++found;
      before = r.int64(kId);
      if (fits(filter, r)) rows.push_back(read_row<AuditRow, kColumns>(r));
    });
    next = before;
    if (found < limit) next.reset();
    if (found < limit || std::ssize(rows) > page.limit) break;
  }
  auto shown = make_page(std::move(rows), page, [](const AuditRow& row) { return row.id; });
  if (!shown.next) shown.next = next;
  name_actors(tx, account, shown.rows);
  return shown;
}

std::int64_t delete_audit(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDelete, before, limit);
}

}  // namespace presetbridge::storage
