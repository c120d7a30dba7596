// An account's credits (spec 11.1, 11.3). available() >= 0 and debt >= 0 after every operation that succeeds;
// one that cannot keep that is refused and changes nothing. Whatever becomes available pays debt first: a
// balance without both available() > 0 and debt > 0 stays one under every operation, and release, grant,
// purchase, reverse and undo_reversal make one of any. The database has no CHECK of it, since a node of an
// earlier program may release and grant beside this one and pays no debt. Amounts are whole credits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace presetbridge::domain {

// The kinds of the ledger's entries. The names are those of the database and the API.
enum class LedgerEntryKind {
  grant,
  purchase,
  spend,
  reversal,
  reversal_undone,
  debt_paid,  // the part of a release, grant or purchase that went into the debt that a reversal left
  unknown     // a later program wrote it; only read, never written
};
inline constexpr std::array<std::string_view, 6> kLedgerEntryKindNames = {
    "grant", "purchase", "spend", "reversal", "reversal_undone", "debt_paid"};
std::string_view to_string(LedgerEntryKind kind);
// Nothing for a name that is not in the table.
std::optional<LedgerEntryKind> parse_ledger_entry_kind(std::string_view name);

struct Balance {
  std::int64_t granted = 0;
  std::int64_t purchased = 0;
  std::int64_t reversed = 0;  // refunds and disputes, as far as they could be taken
  std::int64_t spent = 0;
  std::int64_t held = 0;
  std::int64_t debt = 0;  // the rest of the reversals
  bool operator==(const Balance&) const = default;

  std::int64_t available() const { return granted + purchased - reversed - spent - held; }
  // Available if nothing on hold is spent; below 0 if the debt takes more than that.
  std::int64_t within_reach() const { return available() + held - debt; }
};

// A grant leaves at most so many credits that came in, granted and purchased together: a purchase, which is
// paid already when its credits come, has room in any case.
inline constexpr std::int64_t kMostGranted = 1'000'000'000'000;

// n >= 1, else INVALID_AMOUNT; a sum beyond 2^53 - 1 is refused so too. Release, grant and purchase
// pay the debt out of the credits that they make available; the ledger stores that part as debt_paid.
Expected<Balance> hold(Balance b, std::int64_t n);     // INSUFFICIENT_CREDITS if n > available
Expected<Balance> release(Balance b, std::int64_t n);  // INVALID_AMOUNT if n > held
Expected<Balance> spend(Balance b, std::int64_t n);    // held -> spent; INVALID_AMOUNT if n > held
Expected<Balance> grant(Balance b, std::int64_t n);    // INVALID_AMOUNT beyond kMostGranted
Expected<Balance> purchase(Balance b, std::int64_t n);
Expected<Balance> reverse(Balance b, std::int64_t n);  // takes from available, the rest becomes debt
// A won dispute: the debt that is left is forgiven first. INVALID_AMOUNT beyond what was reversed.
Expected<Balance> undo_reversal(Balance b, std::int64_t n);

// How many of a purchase's credits are reversed once `amount_refunded` of `amount_paid` (both in the
// currency's smallest unit, cumulative) went back: in proportion, rounded up, all at the full amount. 0 for
// nonsense (negative, nothing paid).
std::int64_t credits_reversed(std::int64_t credits, std::int64_t amount_paid, std::int64_t amount_refunded);

}  // namespace presetbridge::domain
