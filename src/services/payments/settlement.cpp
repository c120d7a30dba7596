#include "services/payments/settlement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "services/delivery/delivery_set.h"
#include "storage/stores/account_store.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/credit_store.h"

namespace presetbridge::services {

using domain::PurchaseStanding;
using domain::PurchaseState;
using storage::PurchaseRow;
using storage::Tx;

namespace {

constexpr Millis kSoonest{30'000};
constexpr Millis kLatest = std::chrono::hours{1};

// The older a pending purchase, the seldomer it is asked about: most are never paid, or by a bank that takes
// days.
Timestamp next_poll(const PurchaseRow& row, Timestamp now) {
  return now + std::clamp((now - row.created_at) / 4, kSoonest, kLatest);
}

struct Applied {
  PurchaseRow row;
  bool resumes = false;  // deliveries that wait for credits
};

// One answer of the processor, in the caller's transaction.
class Application {
 public:
  Application(Tx& tx, DeliveryChanges& changes, PurchaseRow row, std::int64_t question)
      : tx_(tx), changes_(changes), row_(std::move(row)), question_(question) {}

  Applied apply(const payments::Payment& payment) {
    const auto before = row_.standing;
    const auto after = domain::settle(row_.terms(), before, payment.facts);
    move_ledger(before, after);
    row_.session = payment.session;
    if (!payment.payment.empty()) row_.payment = payment.payment;
    if (!payment.receipt_url.empty()) row_.receipt_url = payment.receipt_url;
    if (payment.facts.page != domain::PaymentFacts::Page::open) row_.url.clear();
    stand(after);
    report(before);
    return {std::move(row_), resumes_};
  }

  // Nobody was ever given its page.
  Applied close() {
    const auto before = row_.standing;
    stand({.state = PurchaseState::failed, .problem = "Its payment page was not opened."});
    report(before);
    return {std::move(row_), false};
  }

 private:
  void move_ledger(const PurchaseStanding& before, const PurchaseStanding& after) {
    if (before.granted == after.granted && before.reversed == after.reversed) return;
    DeliverySet set(tx_, changes_);
    const auto balance = set.balance(row_.account);
    const auto lines = domain::ledger_lines(balance, before, after);
    if (!lines) throw Error(lines.error());
    for (const auto& [kind, credits, behind, cause] : *lines) {
      set.set_balance(row_.account, behind);
      set.add_ledger_entry({row_.account,
                            {.id = changes_.ids().make<LedgerId>(),
                             .at = tx_.now(),
                             .kind = kind,
                             .credits = credits,
                             .purchase = row_.id,
                             .note = row_.pack_name,
                             .cause = std::string(cause ? domain::to_string(*cause) : "")}});
    }
    set.notify_if_low(row_.account, balance);
    const auto more = set.balance(row_.account).available() - balance.available();
    resumes_ = more > 0;
    if (resumes_) give_out_credits(tx_, row_.account, more);
    set.save();
  }

  void stand(const PurchaseStanding& standing) {
    const bool pending = standing.state == PurchaseState::pending;
    row_.standing = standing;
    if (standing.granted > 0 && !row_.paid_at) row_.paid_at = tx_.now();
    // There was news since the question was put: it stays due.
    const bool latest = row_.asked == question_;
    if (latest || (pending && !row_.due_at))
      row_.due_at = pending ? std::optional(next_poll(row_, tx_.now())) : std::nullopt;
    if (!pending) row_.url.clear();
    row_.answered = question_;
    update_purchase(tx_, row_);
  }

  void report(const PurchaseStanding& before) {
    const auto& now = row_.standing;
    if (now == before) return;
    const auto back = (now.refunded + now.disputed) - (before.refunded + before.disputed);
    tx_.news().purchases.push_back({.purchase = row_.id,
                                    .account = row_.account,
                                    .state = domain::to_string(now.state),
                                    .currency = row_.currency,
                                    .paid = now.granted > before.granted ? row_.amount : 0,
                                    .taken_back = std::max<std::int64_t>(back, 0),
                                    .given_back = std::max<std::int64_t>(-back, 0)});
  }

  Tx& tx_;
  DeliveryChanges& changes_;
  PurchaseRow row_;
  const std::int64_t question_;
  bool resumes_ = false;
};

PurchaseRow locked(Tx& tx, PurchaseId id) {
  auto row = lock_purchase(tx, id);
  if (!row) throw Error{"NOT_FOUND", "There is no such purchase.", {}};
  return std::move(*row);
}

}  // namespace

Error payments_unavailable(const payments::ProcessorError& error) {
  return {"PAYMENTS_UNAVAILABLE", error.message, {}};
}

Task<Expected<PurchaseRow>> Settlement::settle(Executor& executor, PurchaseId id, std::string session) {
  const auto asked = co_await async_db_.write(executor, [id](Tx& tx) -> Expected<PurchaseRow> {
    auto row = number_question(tx, id);
    if (!row) return fail("NOT_FOUND", "There is no such purchase.");
    return std::move(*row);
  });
  if (!asked) co_return std::unexpected(asked.error());
  if (!asked->session.empty()) session = asked->session;
  if (session.empty()) {
    co_return co_await async_db_.write(executor, [&](Tx& tx) {
      auto row = locked(tx, id);
      const bool counts = asked->asked > row.answered;
      const bool late = tx.now() - row.created_at >= kOpensWithin;
      if (!counts || !late || !row.session.empty() || row.standing.state != PurchaseState::pending)
        return row;
      return Application(tx, changes_, std::move(row), asked->asked).close().row;
    });
  }
  const auto payment = co_await processor_.look_up(executor, session);
  if (!payment) {
    log_.warn("the payment processor could not be asked about a purchase",
              {{"purchase", to_string(id)}, {"error", payment.error().message}});
    if (payment.error().kind == payments::ProcessorError::Kind::refused)
      co_await postpone(executor, id, asked->asked);
    co_return std::unexpected(payments_unavailable(payment.error()));
  }
  bool to_nobody = false;  // granted, and the account is deleted
  auto applied = co_await async_db_.write(executor, [&](Tx& tx) -> Applied {
    auto row = locked(tx, id);
    const bool counts = asked->asked > row.answered;
    const bool same =
        row.session.empty() ? payment->facts.purchase == to_string(id) : row.session == payment->session;
    if (!counts || !same) return {std::move(row), false};
    const auto granted = row.standing.granted;
    auto result = Application(tx, changes_, std::move(row), asked->asked).apply(*payment);
    to_nobody = result.row.standing.granted > granted && storage::is_deleted(tx, result.row.account);
    return result;
  });
  if (!applied) co_return std::unexpected(applied.error());
  if (applied->resumes) changed_();
  const auto& standing = applied->row.standing;
  if (!standing.problem.empty() && standing != asked->standing)
    log_.error("a payment grants nothing", {{"purchase", to_string(id)}, {"problem", standing.problem}});
  if (to_nobody)
    log_.error("a purchase was paid after its account was deleted: refund it", {{"purchase", to_string(id)}});
  co_return std::move(applied->row);
}

// The processor does not know the purchase, or not with this key: it is asked seldomer, as the purchase ages.
Task<void> Settlement::postpone(Executor& executor, PurchaseId id, std::int64_t question) {
  const auto postponed = co_await async_db_.write(executor, [&](Tx& tx) {
    auto row = locked(tx, id);
    if (row.standing.state != PurchaseState::pending || row.asked != question) return;
    row.due_at = next_poll(row, tx.now());
    update_purchase(tx, row);
  });
  if (!postponed && !storage::is_logged(postponed.error()))
    log_.error("a purchase could not be postponed",
               {{"purchase", to_string(id)}, {"error", postponed.error().message}});
}

}  // namespace presetbridge::services
