#include "storage/stores/account_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kInsert{"INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)"};
#define PDB_ACCOUNT_COLUMNS "id, name, created_at, display_name, support_email, support_url"
constexpr Sql kFind{"SELECT " PDB_ACCOUNT_COLUMNS " FROM accounts WHERE id = $1"};
constexpr Sql kIsDeleted{"SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NOT NULL"};
constexpr Sql kList{"SELECT " PDB_ACCOUNT_COLUMNS " FROM accounts WHERE id < $1 ORDER BY id DESC LIMIT $2"};
constexpr Sql kUpdate{
    "UPDATE accounts SET name = $2, display_name = $3, support_email = $4, support_url = $5 WHERE id = $1"};

AccountRow read(const Row& r) {
  return {r.id<AccountId>(0), r.string(1), r.time(2), r.string(3), r.string(4), r.string(5)};
}

}  // namespace

void insert_account(Tx& tx, AccountId id, std::string_view name) {
  tx.exec(kInsert, id, name, tx.now());
}

std::optional<AccountRow> find_account(Tx& tx, AccountId id) {
  return tx.one(kFind, id, read);
}

bool is_deleted(Tx& tx, AccountId id) {
  return tx.one(kIsDeleted, id, [](const Row&) { return true; }).value_or(false);
}

Page<AccountRow> list_accounts(Tx& tx, const PageRequest& page) {
  std::vector<AccountRow> rows;
  tx.query(kList, page.before, page.fetch(), [&](const Row& r) { rows.push_back(read(r)); });
  return make_page(std::move(rows), page, [](const AccountRow& row) { return row.id.value; });
}

void update_account(Tx& tx, const AccountRow& row) {
  tx.exec(kUpdate, row.id, row.name, row.display_name, row.support_email, row.support_url);
}

}  // namespace presetbridge::storage
