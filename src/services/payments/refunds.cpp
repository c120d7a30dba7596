#include "services/payments/refunds.h"

#include <fmt/format.h>

#include <utility>

#include "storage/stores/audit_store.h"

namespace presetbridge::services {
namespace {

using payments::ProcessorError;
using payments::ProcessorResult;
using payments::Refund;
using storage::AuditRow;
using storage::PurchaseRow;
using storage::Tx;

constexpr std::string_view kAsked = "purchase.refund_asked";
constexpr std::string_view kRefunded = "purchase.refunded";
constexpr std::string_view kFailed = "purchase.refund_failed";

// More than a call takes, and than the clocks of nodes differ.
constexpr Millis kUnderWay = std::chrono::minutes{10};

std::string money(std::int64_t amount, const PurchaseRow& row) {
  return fmt::format("{} {}", amount, row.currency);
}

// The amount as people read it: the number of units in a euro or a yen is not known here.
std::string readable_amount(std::int64_t amount, const PurchaseRow& row) {
  return fmt::format("{} in the smallest unit of {}", amount, row.currency);
}

bool was_paid(const PurchaseRow& row) {
  return row.standing.granted > 0;
}

// The amount still to go back.
std::int64_t left_of(const PurchaseRow& row, const std::optional<std::int64_t>& total) {
  return was_paid(row) ? total.value_or(row.amount) - row.standing.refunded : 0;
}

// Why nothing, or not that, can go back.
Expected<void> check(const PurchaseRow& row, const std::optional<std::int64_t>& total) {
  if (!was_paid(row)) return fail("VALIDATION_FAILED", "This purchase was not paid: nothing can go back.");
  if (total && (*total < 1 || *total > row.amount))
    return fail("VALIDATION_FAILED", fmt::format("Between 1 and what was paid can go back in all: {}.",
                                                 readable_amount(row.amount, row)));
  if (total && *total < row.standing.refunded)
    return fail("VALIDATION_FAILED", fmt::format("More than that has gone back already: {}.",
                                                 readable_amount(row.standing.refunded, row)));
  return {};
}

// The newest entry of the audit log on the purchase's refunds since `since`.
std::optional<AuditRow> last_entry(Tx& tx, const PurchaseRow& row, Timestamp since) {
  const storage::AuditFilter filter{
      .actor = {}, .action = "purchase.", .target = to_string(row.id), .from = since, .to = {}};
  for (storage::PageRequest page{.limit = 1};;) {
    auto found = list_audit(tx, row.account, page, filter);
    if (!found.rows.empty()) {
      auto& entry = found.rows.front();
      const bool of_refund = entry.action == kAsked || entry.action == kRefunded || entry.action == kFailed;
      return of_refund ? std::optional(std::move(entry)) : std::nullopt;
    }
    if (!found.next) return std::nullopt;
    page.before = *found.next;
  }
}

}  // namespace

std::string Refunds::Try::key() const {
  return fmt::format("{}-refund-{}", to_string(purchase.id), entry);
}

Task<Expected<Refunds::Known>> Refunds::known(Executor& executor, PurchaseId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<Known> {
    const auto row = find_purchase(tx, id);
    if (!row) return fail("NOT_FOUND", "There is no such purchase.");
    return Known{tx.now(), last_entry(tx, *row, row->created_at - kUnderWay)};
  });
}

Task<Expected<std::optional<Refunds::Try>>> Refunds::begin(Executor& executor, const Asked& asked,
                                                           const Known& known, const PurchaseRow& row) {
  co_return co_await async_db_.write(executor, [&](Tx& tx) -> Expected<std::optional<Try>> {
    lock_purchase(tx, row.id);
    // In this transaction, which others wait for, only what came meanwhile.
    auto last = last_entry(tx, row, known.at - kUnderWay);
    if (!last) last = known.last;
    const bool under_way = last && last->action == kAsked;
    if (last && !under_way && (!known.last || known.last->id != last->id)) return std::nullopt;
    const auto amount = left_of(row, asked.total);
    Try it{.purchase = row, .detail = money(amount, row), .amount = amount};
    if (under_way) {
      it.earlier = Earlier{last->detail, tx.now() - last->at < kUnderWay};
      it.entry = last->id;
      return it;
    }
    if (auto fit = check(row, asked.total); !fit) return std::unexpected(fit.error());
    if (amount == 0) {
      it.last = std::move(last);
      return it;
    }
    it.entry = insert_audit(tx, ids_,
                            {.account = row.account,
                             .actor = "operator",
                             .action = kAsked,
                             .target = to_string(row.id),
                             .detail = it.detail,
                             .actor_name = asked.by});
    return it;
  });
}

Task<Expected<void>> Refunds::end(Executor& executor, Try it, std::string by, std::string_view action,
                                  std::string_view how) {
  const auto done = co_await async_db_.write(executor, [&](Tx& tx) {
    lock_purchase(tx, it.purchase.id);
    const auto last = last_entry(tx, it.purchase, it.purchase.created_at - kUnderWay);
    if (!last || last->id != it.entry) return false;  // written by another command with this request
    const auto detail = (it.earlier ? it.earlier->detail : it.detail) + std::string(how);
    insert_audit(tx, ids_,
                 {.account = it.purchase.account,
                  .actor = "operator",
                  .action = action,
                  .target = to_string(it.purchase.id),
                  .detail = detail,
                  .actor_name = by});
    return true;
  });
  if (!done) co_return std::unexpected(done.error());
  co_return Expected<void>{};
}

Task<Expected<void>> Refunds::end(Executor& executor, Try it, std::string by, Refund::Status status) {
  switch (status) {
    case Refund::Status::succeeded:
      return end(executor, std::move(it), std::move(by), kRefunded, "");
    case Refund::Status::pending:
      return end(executor, std::move(it), std::move(by), kRefunded, ", pending");
    case Refund::Status::failed:
      break;
  }
  return end(executor, std::move(it), std::move(by), kFailed, ": failed");
}

Task<Expected<Refunds::GivenBack>> Refunds::conclude(Executor& executor, Try it, std::string by,
                                                     Refund refund) {
  // Its end is noted last: until then the same command asks what became of it.
  auto settled = co_await settlement_.settle(executor, it.purchase.id);
  if (auto ended = co_await end(executor, it, std::move(by), refund.status); !ended)
    co_return std::unexpected(ended.error());
  if (refund.status == Refund::Status::failed)
    co_return fail(
        "CONFLICT",
        fmt::format("The refund of {} failed at the payment processor, and nothing went back.", it.detail));
  // The money went back, also where the purchase cannot be asked about just now: it will be.
  co_return GivenBack{settled ? std::move(*settled) : it.purchase, std::move(refund), std::nullopt};
}

Task<Expected<Refunds::GivenBack>> Refunds::give_back(Executor& executor, Asked asked) {
  auto& processor = settlement_.processor();
  for (;;) {
    // Before the purchase is asked about: a refund that has ended by then is in the answer.
    const auto before = co_await known(executor, asked.purchase);
    if (!before) co_return std::unexpected(before.error());
    const auto row = co_await settlement_.settle(executor, asked.purchase);
    if (!row) co_return std::unexpected(row.error());
    const auto begun = co_await begin(executor, asked, *before, *row);
    if (!begun) co_return std::unexpected(begun.error());
    if (!*begun) continue;
    const auto& it = *begun;
    if (!it->earlier && it->amount == 0) co_return GivenBack{it->purchase, std::nullopt, it->last};
    if (it->earlier) {
      const bool same = it->earlier->detail == it->detail;
      const auto made = co_await processor.made_refund(executor, row->payment, it->key());
      if (!made) co_return std::unexpected(payments_unavailable(made.error()));
      if (*made) {
        const bool meant = left_of(*row, asked.total) == 0;
        if (meant && (*made)->status != Refund::Status::failed)
          co_return co_await conclude(executor, *it, asked.by, **made);
        if (auto ended = co_await end(executor, *it, asked.by, (*made)->status); !ended)
          co_return std::unexpected(ended.error());
        continue;
      }
      if (!same && it->earlier->recent)
        co_return fail("CONFLICT",
                       fmt::format("Whether {}, asked for before, went back is not known yet: ask for the "
                                   "same again, or for another total in ten minutes.",
                                   it->earlier->detail));
      if (!same) {
        if (auto ended = co_await end(executor, *it, asked.by, kFailed, ": not done"); !ended)
          co_return std::unexpected(ended.error());
        continue;
      }
    }
    auto made = co_await processor.refund(executor, row->payment, it->amount, it->key());
    if (made) co_return co_await conclude(executor, *it, asked.by, std::move(*made));
    if (made.error().kind != ProcessorError::Kind::refused)
      co_return std::unexpected(payments_unavailable(made.error()));
    if (auto ended = co_await end(executor, *it, asked.by, kFailed, ": refused"); !ended)
      co_return std::unexpected(ended.error());
    co_return fail("CONFLICT", made.error().message);
  }
}

}  // namespace presetbridge::services
