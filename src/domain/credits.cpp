#include "domain/credits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "domain/names.h"

namespace presetbridge::domain {
namespace {

// Exact in a JSON number of every client, and far from where sums of six such overflow.
constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;

std::unexpected<Error> bad_amount(std::string why) {
  return fail("INVALID_AMOUNT", std::move(why));
}

bool is_amount(std::int64_t n) {
  return n >= 1 && n <= kMost;
}
const char* const kNotAnAmount = "The number of credits must be at least 1 and at most 9007199254740991.";
const char* const kTooMany = "The account cannot keep that many credits.";

// All that came in together is an amount, so whatever is taken from it is one too: a release, which has to
// succeed, needs no check of its own.
bool has_room(const Balance& b, std::int64_t n) {
  return b.granted <= kMost - n - b.purchased;
}

// Pays the debt from the available credits: a debt that is paid has become a reversal that could be taken.
Balance pay_debt(Balance b) {
  const std::int64_t paid = std::min(b.debt, b.available());
  b.debt -= paid;
  b.reversed += paid;
  return b;
}

}  // namespace

std::string_view to_string(LedgerEntryKind kind) {
  return kind == LedgerEntryKind::unknown ? "unknown" : kLedgerEntryKindNames[static_cast<std::size_t>(kind)];
}

std::optional<LedgerEntryKind> parse_ledger_entry_kind(std::string_view name) {
  return parse_name<LedgerEntryKind>(kLedgerEntryKindNames, name);
}

Expected<Balance> hold(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  if (n > b.available()) return fail("INSUFFICIENT_CREDITS", "Not enough credits are available.");
  b.held += n;
  return b;
}

Expected<Balance> release(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  if (n > b.held) return bad_amount("More credits were released than are held.");
  b.held -= n;
  return pay_debt(b);
}

Expected<Balance> spend(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  if (n > b.held) return bad_amount("More credits were spent than are held.");
  if (b.spent > kMost - n) return bad_amount(kTooMany);
  b.held -= n;
  b.spent += n;
  return b;
}

Expected<Balance> grant(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  if (b.granted > kMostGranted - b.purchased - n) {
    return bad_amount("A grant cannot bring the credits that an account was granted and has bought beyond " +
                      std::to_string(kMostGranted) + ".");
  }
  b.granted += n;
  return pay_debt(b);
}

Expected<Balance> purchase(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  if (!has_room(b, n)) return bad_amount(kTooMany);
  b.purchased += n;
  return pay_debt(b);
}

Expected<Balance> reverse(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  const std::int64_t taken = std::min(b.available(), n);
  if (b.debt > kMost - (n - taken)) return bad_amount(kTooMany);
  b.reversed += taken;
  b.debt += n - taken;
  return pay_debt(b);
}

Expected<Balance> undo_reversal(Balance b, std::int64_t n) {
  if (!is_amount(n)) return bad_amount(kNotAnAmount);
  const std::int64_t forgiven = std::min(b.debt, n);
  if (n - forgiven > b.reversed) return bad_amount("More credits were returned than were reversed.");
  b.debt -= forgiven;
  b.reversed -= n - forgiven;
  return pay_debt(b);
}

std::int64_t credits_reversed(std::int64_t credits, std::int64_t amount_paid, std::int64_t amount_refunded) {
  if (credits <= 0 || amount_paid <= 0 || amount_refunded <= 0) return 0;
  if (amount_refunded >= amount_paid) return credits;
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(credits) * amount_refunded + amount_paid - 1) /
                                   amount_paid);
}

}  // namespace presetbridge::domain
