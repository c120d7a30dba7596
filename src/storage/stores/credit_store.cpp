#include "storage/stores/credit_store.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "storage/row_columns.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

#define PDB_BALANCE_COLUMNS "granted, purchased, reversed, spent, held, debt, credits_low_at"
constexpr Sql kFind{"SELECT " PDB_BALANCE_COLUMNS " FROM accounts WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_BALANCE_COLUMNS " FROM accounts WHERE id = $1 <for_update>"};
constexpr Sql kSetLowAt{"UPDATE accounts SET credits_low_at = $2 WHERE id = $1"};
constexpr Sql kUpdate{
    "UPDATE accounts SET granted = $2, purchased = $3, reversed = $4, spent = $5, held = $6, debt = $7 WHERE "
    "id = $1"};
constexpr std::tuple kLedgerColumns{
    Column{"account_id", &LedgerRow::account},
    Column{"id", [](auto& row) -> auto& { return row.entry.id; }},
    Column{"at", [](auto& row) -> auto& { return row.entry.at; }},
    Column{"kind", [](auto& row) -> auto& { return row.entry.kind; },
           kNamedOrDefault<domain::parse_ledger_entry_kind>},
    Column{"credits", [](auto& row) -> auto& { return row.entry.credits; }},
    Column{"item_id", [](auto& row) -> auto& { return row.entry.item; }, kEmptyIsNull},
    Column{"purchase_id", [](auto& row) -> auto& { return row.entry.purchase; }, kEmptyIsNull},
    Column{"note", [](auto& row) -> auto& { return row.entry.note; }},
    Column{"balance_after", [](auto& row) -> auto& { return row.entry.balance_after; }},
    Column{"cause", [](auto& row) -> auto& { return row.entry.cause; }, kEmptyIsNull},
    Column{"delivery_id", [](auto& row) -> auto& { return row.entry.delivery; }, kEmptyIsNull},
};
constexpr Sql kAppend = sql<"INSERT INTO ledger ", kInsertion<kLedgerColumns>>;
constexpr Sql kList =
    sql<"SELECT ", kSelected<kLedgerColumns>,
        " FROM ledger WHERE account_id = $1 AND id < $2 AND id >= $3 ORDER BY id DESC LIMIT $4">;
constexpr Sql kSpent{
    "SELECT CAST(sum(CASE WHEN kind = 'spend' THEN credits ELSE 0 END) AS BIGINT), count(*), min(id)"
    " FROM (SELECT id, kind, credits FROM ledger WHERE account_id = $1 AND id >= $2 ORDER BY id DESC LIMIT "
    "$3)"
    " AS counted"};

domain::Balance read_balance(const Row& r) {
  return {r.int64(0), r.int64(1), r.int64(2), r.int64(3), r.int64(4), r.int64(5)};
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
  Texts texts;
  for (const auto& row : rows) add_insert<kLedgerColumns>(flat, row, texts);
  tx.exec_many(kAppend, kInsertWidth<kLedgerColumns>, flat);
}

std::vector<LedgerEntry> list_ledger(Tx& tx, AccountId account, LedgerId before, int limit, LedgerId first) {
  std::vector<LedgerEntry> entries;
  const std::int64_t from = before ? before.value : std::numeric_limits<std::int64_t>::max();
  tx.query(kList, account, from, first, limit,
           [&](const Row& r) { entries.push_back(std::move(read_row<LedgerRow, kLedgerColumns>(r).entry)); });
  return entries;
}

void name_orders(Tx& tx, std::span<LedgerEntry> entries) {
  std::vector<OrderId> orders;
  for (const auto& entry : entries) {
    if (entry.delivery) orders.push_back(OrderId{entry.delivery.value});  // a delivery has its order's id
  }
  std::ranges::sort(orders);
  orders.erase(std::ranges::unique(orders).begin(), orders.end());
  const auto names = find_order_names(tx, orders);
  for (auto& entry : entries) {
    if (!entry.delivery) continue;
    const auto at = std::ranges::lower_bound(orders, OrderId{entry.delivery.value}) - orders.begin();
    entry.order_key = names[static_cast<std::size_t>(at)].key;
    entry.order_number = names[static_cast<std::size_t>(at)].number;
  }
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
