// Purchases of credits (spec 11.2, 11.3): what the present state of a payment at the processor means for a
// purchase and for the account's ledger. It is a function of that state alone, however often it is asked for
// and whatever order the news of it came in: the ledger is moved by the difference to what it holds already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "domain/credits.h"

namespace presetbridge::domain {

enum class PurchaseState {
  pending,   // not paid yet, and it can be
  paid,      // its credits are granted
  failed,    // it cannot be paid any more, or was paid otherwise than agreed: nothing is granted
  expired,   // the page was not paid in time
  refunded,  // money went back: all of it, or a part
  disputed,  // a dispute took money, and is open or lost
};
std::string_view to_string(PurchaseState state);
std::optional<PurchaseState> parse_purchase_state(std::string_view text);

// The terms of the purchase when the payment page was opened; they never change.
struct PurchaseTerms {
  std::string purchase;  // ids as sent to the processor
  std::string account;
  std::int64_t credits = 0;
  std::int64_t amount = 0;  // in the currency's smallest unit, as all money here
  std::string currency;
  bool live = false;
};

// The processor's state of a payment page and its payment, at one moment.
struct PaymentFacts {
  enum class Page { open, complete, expired };
  Page page = Page::open;
  bool paid = false;
  bool payment_failed = false;  // the page is complete, and the payment came to nothing
  // As the processor has them.
  std::string purchase;
  std::string account;
  std::int64_t amount = 0;
  std::string currency;
  bool live = false;
  // Cumulative.
  std::int64_t refunded = 0;
  std::int64_t disputed = 0;  // by disputes that are open or lost; a won one takes nothing
};

// How a purchase stands in the ledger.
struct PurchaseStanding {
  PurchaseState state = PurchaseState::pending;
  std::int64_t granted = 0;   // 0 or all its credits
  std::int64_t reversed = 0;  // of them, cumulative
  std::int64_t refunded = 0;  // money, as in PaymentFacts
  std::int64_t disputed = 0;
  std::string problem;  // why a payment that was made grants nothing; one sentence
  bool operator==(const PurchaseStanding&) const = default;
};

// Granted credits stay granted: only refunds and disputes take them back, and a payment that the processor
// does not call paid any more changes nothing.
PurchaseStanding settle(const PurchaseTerms& terms, const PurchaseStanding& before, const PaymentFacts& now);

// The cause of a reversal, or of its end: money that went back, or that a dispute took.
enum class ReversalCause { refund, dispute };
std::string_view to_string(ReversalCause cause);

// An entry of the ledger, and the balance behind it.
struct LedgerLine {
  LedgerEntryKind kind;  // purchase, debt_paid, reversal or reversal_undone
  std::int64_t credits = 0;
  Balance after;
  std::optional<ReversalCause> cause = std::nullopt;  // of a reversal, and of one undone
};
// The lines that take the ledger from one standing to the other; empty where both hold the same credits.
// Where a refund and a dispute both moved it the one way, each has its line, by its part of the money; the
// odd credit is the refund's. INVALID_AMOUNT where the balance cannot take it.
Expected<std::vector<LedgerLine>> ledger_lines(const Balance& balance, const PurchaseStanding& before,
                                               const PurchaseStanding& after);

}  // namespace presetbridge::domain
