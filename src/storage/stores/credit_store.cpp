#include "storage/stores/credit_store.h"

#include <array>
#include <limits>

namespace presetbridge::storage {
namespace {

#define PDB_BALANCE_COLUMNS "granted, purchased, reversed, spent, held, debt, credits_low_at"
constexpr Sql kFind{"SELECT " PDB_BALANCE_COLUMNS " FROM accounts WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_BALANCE_COLUMNS " FROM accounts WHERE id = $1 <for_update>"};
constexpr Sql kSetLowAt{"UPDATE accounts SET credits_low_at = $2 WHERE id = $1"};
constexpr Sql kUpdate{
    "UPDATE accounts SET granted = $2, purchased = $3, reversed = $4, spent = $5, held = $6, debt = $7 WHERE "
    "id = $1"};
constexpr Sql kAppend{
    "INSERT INTO ledger (account_id, id, at, kind, credits, item_id, purchase_id, note, balance_after, cause)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
constexpr Sql kList{
    "SELECT id, at, kind, credits, item_id, purchase_id, note, balance_after, cause FROM ledger WHERE "
    "account_id = $1"
    " AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4"};
constexpr Sql kSpent{
    "SELECT CAST(sum(CASE WHEN kind = 'spend' THEN credits ELSE 0 END) AS BIGINT), count(*), min(id)"
    " FROM (SELECT id, kind, credits FROM ledger WHERE account_id = $1 AND id >= $2 ORDER BY id DESC LIMIT "
    "$3)"
    " AS counted"};

domain::Balance read_balance(const Row& r) {
  return {r.int64(0), r.int64(1), r.int64(2), r.int64(3), r.int64(4), r.int64(5)};
}

domain::LedgerEntryKind kind_of(std::string_view stored) {
  return domain::parse_ledger_entry_kind(stored).value_or(domain::LedgerEntryKind::unknown);
}

std::vector<AccountBalance> balances(Tx& tx, const Sql& sql, std::span<const AccountId> accounts) {
  std::vector<AccountBalance> found;
  tx.query_each(sql, 1, params_of(accounts), [&](std::size_t n, const Row& r) {
    found.push_back({accounts[n], read_balance(r), r.opt_int64(6)});
  });
  return found;
}

}  // namespace

std::optional<domain::Balance> find_balance(Tx& tx, AccountId account) {
  return tx.one(kFind, account, read_balance);
}
std::optional<domain::Balance> lock_balance(Tx& tx, AccountId account) {
  return tx.one(kLock, account, read_balance);
}

std::vector<AccountBalance> find_balances(Tx& tx, std::span<const AccountId> accounts) {
  return balances(tx, kFind, accounts);
}
std::vector<AccountBalance> lock_balances(Tx& tx, std::span<const AccountId> accounts) {
  return balances(tx, kLock, accounts);
}

void update_balance(Tx& tx, AccountId account, const domain::Balance& balance) {
  update_balances(tx, std::array{AccountBalance{account, balance}});
}
void update_balances(Tx& tx, std::span<const AccountBalance> balances) {
  std::vector<Param> flat;
  for (const auto& [account, b, low_at] : balances) {
    tx.changes().push_back(changed(ChangeKind::credits, account));
    flat.insert(flat.end(), {account, b.granted, b.purchased, b.reversed, b.spent, b.held, b.debt});
  }
  tx.update_each(kUpdate, 7, flat);
}

std::optional<std::int64_t> credits_low_at(Tx& tx, AccountId account) {
  return tx.one(kFind, account, [](const Row& r) { return r.opt_int64(6); }).value_or(std::nullopt);
}
void set_credits_low_at(Tx& tx, AccountId account, std::optional<std::int64_t> low_at) {
  tx.exec(kSetLowAt, account, low_at);
  tx.changes().push_back(changed(ChangeKind::credits, account));
}

void append_ledger(Tx& tx, std::span<const LedgerRow> rows) {
  std::vector<Param> flat;
  for (const auto& [account, e] : rows) {
    flat.insert(flat.end(),
                {account, e.id, e.at, to_string(e.kind), e.credits, e.item ? Param(e.item) : Param(nullptr),
                 e.purchase ? Param(e.purchase) : Param(nullptr), e.note, e.balance_after,
                 e.cause.empty() ? Param(nullptr) : Param(e.cause)});
  }
  tx.exec_many(kAppend, 10, flat);
}

std::vector<LedgerEntry> list_ledger(Tx& tx, AccountId account, LedgerId before, int limit, LedgerId first) {
  std::vector<LedgerEntry> entries;
  const std::int64_t from = before ? before.value : std::numeric_limits<std::int64_t>::max();
  tx.query(kList, account, from, first, limit, [&](const Row& r) {
    entries.push_back({r.id<LedgerId>(0), r.time(1), kind_of(r.text(2)), r.int64(3), r.id_or_none<ItemId>(4),
                       r.id_or_none<PurchaseId>(5), r.string(6), r.opt_int64(7), r.string_or_empty(8)});
  });
  return entries;
}

Spending count_spent(Tx& tx, AccountId account, LedgerId first, int most) {
  return tx
      .one(kSpent, account, first, most,
           [](const Row& r) {
             return Spending{r.opt_int64(0).value_or(0), r.int64(1), r.id_or_none<LedgerId>(2)};
           })
      .value();
}

}  // namespace presetbridge::storage
