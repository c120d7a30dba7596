#include "storage/account_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kInsert{"INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)"};
constexpr Sql kFind{"SELECT id, name, created_at FROM accounts WHERE id = $1"};
constexpr Sql kList{"SELECT id, name, created_at FROM accounts WHERE id < $1 ORDER BY id DESC LIMIT $2"};
constexpr Sql kRename{"UPDATE accounts SET name = $2 WHERE id = $1"};

AccountRow read(const Row& r) {
  return {r.id<AccountId>(0), r.string(1), r.time(2)};
}

}  // namespace

void insert_account(Tx& tx, AccountId id, std::string_view name) {
  tx.exec(kInsert, id, name, tx.now());
}

std::optional<AccountRow> find_account(Tx& tx, AccountId id) {
  return tx.one(kFind, id, read);
}

Page<AccountRow> list_accounts(Tx& tx, const PageRequest& page) {
  std::vector<AccountRow> rows;
  tx.query(kList, page.before, page.fetch(), [&](const Row& r) { rows.push_back(read(r)); });
  return make_page(std::move(rows), page, [](const AccountRow& row) { return row.id.value; });
}

bool rename_account(Tx& tx, AccountId id, std::string_view name) {
  return tx.exec(kRename, id, name) == 1;
}

}  // namespace presetbridge::storage
