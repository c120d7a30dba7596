#include "domain/purchase.h"

#include <algorithm>
#include <array>
#include <utility>

namespace presetbridge::domain {
namespace {

constexpr std::array<std::pair<PurchaseState, std::string_view>, 6> kStates{{
    {PurchaseState::pending, "pending"},
    {PurchaseState::paid, "paid"},
    {PurchaseState::failed, "failed"},
    {PurchaseState::expired, "expired"},
    {PurchaseState::refunded, "refunded"},
    {PurchaseState::disputed, "disputed"},
}};

// Empty: all is as agreed.
std::string_view difference(const PurchaseTerms& terms, const PaymentFacts& now) {
  if (now.purchase != terms.purchase) return "The payment is of another purchase.";
  if (now.account != terms.account) return "The payment is of another account.";
  if (now.live != terms.live)
    return "The payment's mode, test or live, is not the one in which the credits were sold.";
  if (now.currency != terms.currency) return "The payment was made in another currency.";
  if (now.amount != terms.amount) return "The payment was of another amount.";
  return {};
}

PurchaseState state_of(const PaymentFacts& now) {
  if (now.disputed > 0) return PurchaseState::disputed;
  return now.refunded > 0 ? PurchaseState::refunded : PurchaseState::paid;
}

PurchaseState unpaid_state(const PaymentFacts& now) {
  if (now.page == PaymentFacts::Page::expired) return PurchaseState::expired;
  return now.payment_failed ? PurchaseState::failed : PurchaseState::pending;
}

// Collects the ledger entries of one change of a purchase. Each entry starts from the balance after the entry
// before it.
class Lines {
 public:
  explicit Lines(const Balance& balance) : balance_(balance) {}

  // Adds an entry, and a second one if credits paid debt. `forgiven`: the part of the debt that ended unpaid.
  void add(LedgerEntryKind kind, std::int64_t credits, const Expected<Balance>& after, std::int64_t forgiven,
           std::optional<ReversalCause> cause = std::nullopt) {
    if (refused_) return;
    if (!after) {
      refused_ = after.error();
      return;
    }
    const auto paid = balance_.debt - forgiven - after->debt;
    balance_ = *after;
    lines_.push_back({kind, credits, balance_, cause});
    if (paid > 0) lines_.push_back({LedgerEntryKind::debt_paid, paid, balance_});
  }
  const Balance& balance() const { return balance_; }
  Expected<std::vector<LedgerLine>> take() {
    if (refused_) return std::unexpected(*refused_);
    return std::move(lines_);
  }

 private:
  Balance balance_;
  std::vector<LedgerLine> lines_;
  std::optional<Error> refused_;
};

using Part = std::pair<std::optional<ReversalCause>, std::int64_t>;

// Splits `moved` credits (negative: given back) into those that refunds moved and those that disputes moved.
// The parts are positive.
std::vector<Part> parts_of(std::int64_t moved, const PurchaseStanding& before,
                           const PurchaseStanding& after) {
  if (moved == 0) return {};
  // Counts only money that moved in the direction of the credits.
  const auto money = [&](std::int64_t was, std::int64_t is) {
    return std::max<std::int64_t>(moved > 0 ? is - was : was - is, 0);
  };
  const auto refunded = money(before.refunded, after.refunded);
  const auto disputed = money(before.disputed, after.disputed);
  const auto credits = moved > 0 ? moved : -moved;
  if (refunded + disputed == 0) return {{std::nullopt, credits}};
  const auto of_refunds = credits_reversed(credits, refunded + disputed, refunded);
  std::vector<Part> parts;
  if (of_refunds > 0) parts.emplace_back(ReversalCause::refund, of_refunds);
  if (credits > of_refunds) parts.emplace_back(ReversalCause::dispute, credits - of_refunds);
  return parts;
}

}  // namespace

std::string_view to_string(ReversalCause cause) {
  return cause == ReversalCause::refund ? "refund" : "dispute";
}

std::string_view to_string(PurchaseState state) {
  return std::ranges::find(kStates, state, &decltype(kStates)::value_type::first)->second;
}

std::optional<PurchaseState> parse_purchase_state(std::string_view text) {
  const auto* const found = std::ranges::find(kStates, text, &decltype(kStates)::value_type::second);
  if (found == kStates.end()) return std::nullopt;
  return found->first;
}

PurchaseStanding settle(const PurchaseTerms& terms, const PurchaseStanding& before, const PaymentFacts& now) {
  if (!now.paid) {
    if (before.granted > 0) return before;
    return {.state = unpaid_state(now)};
  }
  if (const auto why = difference(terms, now); !why.empty()) {
    if (before.granted > 0) return before;
    return {.state = PurchaseState::failed, .problem = std::string(why)};
  }
  const auto refunded = std::clamp<std::int64_t>(now.refunded, 0, terms.amount);
  const auto disputed = std::clamp<std::int64_t>(now.disputed, 0, terms.amount);
  return {.state = state_of(now),
          .granted = terms.credits,
          .reversed = credits_reversed(terms.credits, terms.amount, refunded + disputed),
          .refunded = refunded,
          .disputed = disputed};
}

Expected<std::vector<LedgerLine>> ledger_lines(const Balance& balance, const PurchaseStanding& before,
                                               const PurchaseStanding& after) {
  Lines lines(balance);
  if (const auto n = after.granted - before.granted; n > 0)
    lines.add(LedgerEntryKind::purchase, n, purchase(lines.balance(), n), 0);
  const auto moved = after.reversed - before.reversed;
  for (const auto& [cause, n] : parts_of(moved, before, after)) {
    if (moved > 0) {
      lines.add(LedgerEntryKind::reversal, n, reverse(lines.balance(), n), 0, cause);
    } else {
      const auto forgiven = std::min(lines.balance().debt, n);
      lines.add(LedgerEntryKind::reversal_undone, n, undo_reversal(lines.balance(), n), forgiven, cause);
    }
  }
  return lines.take();
}

}  // namespace presetbridge::domain
