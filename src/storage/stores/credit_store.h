// An account's balance and its ledger (spec 11.1). The balance row is locked while it changes. The ledger
// is append-only; a unique index holds it to one spend an item, ever.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "domain/credits.h"
#include "storage/database.h"

namespace presetbridge::storage {

std::optional<domain::Balance> find_balance(Tx& tx, AccountId account);
std::optional<domain::Balance> lock_balance(Tx& tx, AccountId account);
void update_balance(Tx& tx, AccountId account, const domain::Balance& balance);
struct AccountBalance {
  AccountId account;
  domain::Balance balance;
  std::optional<std::int64_t> low_at = std::nullopt;  // as in credits_low_at(); read, never written
};
// The balances of the accounts that have one.
std::vector<AccountBalance> find_balances(Tx& tx, std::span<const AccountId> accounts);
// Locks and reads them, in the order given.
std::vector<AccountBalance> lock_balances(Tx& tx, std::span<const AccountId> accounts);
// Writes them; each account once.
void update_balances(Tx& tx, std::span<const AccountBalance> balances);

// The number of credits at which the account wants to be notified (spec 10.1); nothing: it has set none.
std::optional<std::int64_t> credits_low_at(Tx& tx, AccountId account);
void set_credits_low_at(Tx& tx, AccountId account, std::optional<std::int64_t> low_at);

struct LedgerEntry {
  LedgerId id;
  Timestamp at;
  // debt_paid: the part of a release, grant or purchase that went into the debt that a reversal left. A
  // reversal stands whole in its own entry, so the account's sum does not count debt_paid.
  domain::LedgerEntryKind kind = domain::LedgerEntryKind::unknown;
  std::int64_t credits = 0;
  ItemId item;  // spend only
  PurchaseId purchase;
  std::string note;
  // domain::Balance::within_reach() after the entry: with the credits on hold, without debt. Nothing in
  // entries that an older program wrote.
  std::optional<std::int64_t> balance_after = std::nullopt;
  // Of reversal and reversal_undone: "refund" or "dispute". Empty in entries that an older program wrote.
  std::string cause{};
  DeliveryId delivery{};  // of the item; none in entries that an older program wrote
  // The names of the delivery's order (OrderName); empty until name_orders() reads them.
  std::string order_key{};
  std::string order_number{};
};
struct LedgerRow {
  AccountId account;
  LedgerEntry entry;
};
void append_ledger(Tx& tx, std::span<const LedgerRow> rows);
// Newest first, older than `before` (none: from the newest), and not older than `first`.
std::vector<LedgerEntry> list_ledger(Tx& tx, AccountId account, LedgerId before, int limit,
                                     LedgerId first = {});
// Reads the name of the order of each entry that has a delivery.
void name_orders(Tx& tx, std::span<LedgerEntry> entries);
// Credits spent among the newest `most` entries from `first` on.
struct Spending {
  std::int64_t credits = 0;
  std::int64_t entries = 0;  // that were read
  LedgerId oldest;           // of those entries
};
Spending count_spent(Tx& tx, AccountId account, LedgerId first, int most);

}  // namespace presetbridge::storage
