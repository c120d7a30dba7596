#include "storage/account_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kInsert{"INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)"};
constexpr Sql kFind{"SELECT id, name, created_at FROM accounts WHERE id = $1"};
constexpr Sql kRename{"UPDATE accounts SET name = $2 WHERE id = $1"};

}  // namespace

void insert_account(Tx& tx, AccountId id, std::string_view name) {
  tx.exec(kInsert, id, name, tx.now());
}

std::optional<AccountRow> find_account(Tx& tx, AccountId id) {
  return tx.one(kFind, id,
                [](const Row& r) { return AccountRow{r.id<AccountId>(0), r.string(1), r.time(2)}; });
}

bool rename_account(Tx& tx, AccountId id, std::string_view name) {
  return tx.exec(kRename, id, name) == 1;
}

}  // namespace presetbridge::storage
