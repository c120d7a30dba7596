#include "services/payments/purchases.h"

#include <fmt/format.h>

#include <algorithm>

#include "identity/audit.h"

namespace presetbridge::services {

using domain::PurchaseState;
using storage::PurchaseRow;
using storage::Tx;

namespace {

// The delay of reconciliation's first query: the landing page and the webhook come sooner as a rule.
constexpr Millis kFirstPoll = std::chrono::minutes{1};

std::unexpected<Error> no_such_purchase() {
  return fail("NOT_FOUND", "There is no such purchase.");
}
std::unexpected<Error> payments_off() {
  return fail("PAYMENTS_OFF", "This service sells no credits.");
}

}  // namespace

PurchaseId purchase_of(Tx& tx, const payments::Notice& notice) {
  if (!notice.session.empty()) {
    if (const auto id = find_purchase_of_session(tx, notice.session)) return *id;
    // The page was opened, and the row does not know of it.
    const auto named = parse_id<PurchaseKind>(notice.purchase);
    const auto row = named ? find_purchase(tx, *named) : std::nullopt;
    return row && row->session.empty() ? row->id : PurchaseId{};
  }
  if (notice.payment.empty()) return {};
  return find_purchase_of_payment(tx, notice.payment).value_or(PurchaseId{});
}

Task<Expected<PurchaseRow>> Purchases::buy(Executor& executor, identity::Principal by, std::string pack_id) {
  if (settlement_ == nullptr) co_return payments_off();
  const auto pack = std::ranges::find(options_.packs, pack_id, &domain::CreditPack::id);
  if (pack == options_.packs.end())
    co_return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
                   {{"packId", "is not a pack that is sold"}});
  auto opened = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<PurchaseRow> {
    const bool live = settlement_->processor().live();
    if (count_pending_purchases(tx, by.account, live, tx.now() - kPendingCounted, kMostPendingPurchases) >=
        kMostPendingPurchases)
      return fail("LIMIT_REACHED",
                  fmt::format("{} purchases wait for their payment: finish or leave those first.",
                              kMostPendingPurchases));
    PurchaseRow row;
    row.id = ids_.make<PurchaseId>();
    row.account = by.account;
    row.actor = to_string(by.actor());
    row.created_at = tx.now();
    row.live = live;
    row.pack_id = pack->id;
    row.pack_name = pack->name;
    row.credits = pack->credits;
    row.amount = pack->amount;
    row.currency = pack->currency;
    row.expires_at = tx.now() + options_.page_open;
    row.due_at = tx.now() + kFirstPoll;
    insert_purchase(tx, row);
    identity::audit(tx, ids_, by,
                    {.action = "purchase.opened",
                     .target = to_string(row.id),
                     .detail = fmt::format("{} credits for {} {}", row.credits, row.amount, row.currency)});
    return row;
  });
  if (!opened) co_return std::unexpected(opened.error());
  co_return co_await open_page(executor, std::move(*opened));
}

Task<Expected<PurchaseRow>> Purchases::open_page(Executor& executor, PurchaseRow row) {
  const auto back = options_.base_url + "/credits/return?purchase=" + to_string(row.id);
  auto page = co_await settlement_->processor().open_checkout(executor, {.purchase = to_string(row.id),
                                                                         .account = to_string(row.account),
                                                                         .name = row.pack_name,
                                                                         .amount = row.amount,
                                                                         .currency = row.currency,
                                                                         .return_url = back,
                                                                         .cancel_url = back,
                                                                         .expires_at = row.expires_at});
  auto noted = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<PurchaseRow> {
    auto now = lock_purchase(tx, row.id);
    if (!now) return no_such_purchase();
    if (now->standing.state != PurchaseState::pending || !now->session.empty()) return std::move(*now);
    if (page) {
      now->session = page->session;
      now->url = page->url;
    } else {
      // Nobody has its address, so whatever the processor made of it cannot be paid.
      now->standing = {.state = PurchaseState::failed, .problem = "Its payment page could not be opened."};
      now->due_at.reset();
    }
    update_purchase(tx, *now);
    return std::move(*now);
  });
  if (!page) co_return std::unexpected(payments_unavailable(page.error()));
  co_return std::move(noted);
}

Task<Expected<storage::Page<PurchaseRow>>> Purchases::list(Executor& executor, identity::Principal by,
                                                           std::optional<PurchaseState> state,
                                                           storage::PageRequest page) {
  co_return co_await async_db_.read(executor,
                                    [&](Tx& tx) { return list_purchases(tx, by.account, state, page); });
}

Task<Expected<PurchaseRow>> Purchases::get(Executor& executor, identity::Principal by, PurchaseId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<PurchaseRow> {
    auto row = find_purchase(tx, id);
    if (!row || row->account != by.account) return no_such_purchase();
    return std::move(*row);
  });
}

Task<Expected<PurchaseRow>> Purchases::refresh(Executor& executor, identity::Principal by, PurchaseId id) {
  auto row = co_await get(executor, std::move(by), id);
  if (!row) co_return std::unexpected(row.error());
  if (settlement_ == nullptr) co_return payments_off();
  const auto now = co_await async_db_.read(executor, [](Tx& tx) { return tx.now(); });
  if (!now) co_return std::unexpected(now.error());
  if (row->asked_at && *now - *row->asked_at < kAskedAnew) co_return std::move(*row);
  co_return co_await settlement_->settle(executor, row->id);
}

Task<Expected<void>> Purchases::noticed(Executor& executor, payments::Notice notice) {
  if (settlement_ == nullptr) co_return payments_off();
  const auto id = co_await async_db_.read(executor, [&](Tx& tx) { return purchase_of(tx, notice); });
  if (!id) co_return std::unexpected(id.error());
  if (!*id) co_return Expected<void>();
  const auto settled = co_await settlement_->settle(executor, *id, notice.session);
  if (settled) co_return Expected<void>();
  auto due = co_await async_db_.write(executor, [&](Tx& tx) {
    make_purchase_due(tx, *id, tx.now());
    return true;
  });
  co_return std::unexpected(settled.error());
}

}  // namespace presetbridge::services
