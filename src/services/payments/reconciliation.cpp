#include "services/payments/reconciliation.h"

#include <algorithm>
#include <utility>

#include "services/payments/purchases.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::services {

using storage::NoticeCursor;
using storage::Tx;

namespace {

constexpr std::size_t kMostSeen = 2'000;  // notices that are remembered
// The gauge of old pending purchases: how many it counts at most, and from which age on.
constexpr int kMostCounted = 10'000;
constexpr Millis kOldPending = std::chrono::hours{1};

}  // namespace

Reconciliation::Reconciliation(Ports ports, Pace pace)
    : ports_(std::move(ports)),
      pace_(pace),
      notices_(pace.notices),
      tasks_(ports_.scheduler,
             {.log = ports_.log, .message = "reconciliation of payments has ended by a fault"}) {}

void Reconciliation::start() {
  tasks_.start_loop(loop(), "reconciliation loop");
}

void Reconciliation::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> Reconciliation::loop() {
  while (!tasks_.stopping()) {
    if (notices_.take(ports_.clock.now())) {
      co_await read_notices();
      co_await count_pending();
    }
    if (!tasks_.stopping()) co_await ask_due();
    if (!tasks_.stopping()) co_await tasks_.wait(pace_.poll);
  }
}

Task<void> Reconciliation::read_notices() {
  const bool live = ports_.settlement.processor().live();
  auto cursor = co_await ports_.async_db.write(ports_.scheduler, [&](Tx& tx) {
    return lease_notices(tx, live, ports_.node, tx.now() + pace_.lease, tx.now() - pace_.overlap);
  });
  if (!cursor || !*cursor) co_return;
  for (int page = 0; page < pace_.pages && !tasks_.stopping(); ++page) {
    if (!co_await read_page(**cursor)) co_return;
  }
}

// Reads a page of notices; returns whether another one follows. The transaction that advances the cursor also
// makes the page's purchases due, so a crash loses none.
Task<bool> Reconciliation::read_page(NoticeCursor& cursor) {
  const bool live = ports_.settlement.processor().live();
  const bool begins = cursor.until <= cursor.since;
  if (begins) {
    const auto now = co_await ports_.async_db.read(ports_.scheduler, [](Tx& tx) { return tx.now(); });
    if (!now) co_return false;
    cursor.until = std::max(*now, cursor.since + Millis{1'000});
  }
  const auto page = co_await ports_.settlement.processor().notices(ports_.scheduler, cursor.since,
                                                                   cursor.until, cursor.page);
  if (!page) {
    ports_.log.warn("the payment processor's notices could not be read", {{"error", page.error().message}});
    // The processor may have deleted the notice behind which this page begins: it keeps notices for a month. The
    // window is read again from its first page.
    if (page.error().kind == payments::ProcessorError::Kind::refused && !cursor.page.empty()) {
      cursor.page.clear();
      co_await ports_.async_db.write(ports_.scheduler,
                                     [&](Tx& tx) { return advance_notices(tx, live, ports_.node, cursor); });
    }
    co_return false;
  }
  NoticeCursor next = cursor;
  next.page = page->more ? page->last : std::string();
  if (!page->more) {
    next.since = std::max(cursor.since, cursor.until - pace_.overlap);
    next.until = next.since;
  }
  std::vector<std::string> taken;
  const auto advanced = co_await ports_.async_db.write(ports_.scheduler, [&](Tx& tx) {
    taken.clear();
    std::set<PurchaseId> due;
    for (const auto& notice : page->notices) {
      if (notice.live != live || seen_.contains(notice.id)) continue;
      const auto id = purchase_of(tx, notice);
      if (!id) continue;
      taken.push_back(notice.id);
      due.insert(id);
    }
    for (const auto id : due) make_purchase_due(tx, id, tx.now());
    return advance_notices(tx, live, ports_.node, next);
  });
  if (!advanced || !*advanced) co_return false;
  for (const auto& notice : taken) remember(notice);
  cursor = next;
  co_return page->more;
}

void Reconciliation::remember(const std::string& notice) {
  if (!seen_.insert(notice).second) return;
  order_.push_back(notice);
  if (order_.size() <= kMostSeen) return;
  seen_.erase(order_.front());
  order_.pop_front();
}

Task<void> Reconciliation::ask_due() {
  const bool live = ports_.settlement.processor().live();
  const auto any =
      co_await ports_.async_db.read(ports_.scheduler, [live](Tx& tx) { return any_purchase_due(tx, live); });
  if (!any || !*any) co_return;
  const auto due = co_await ports_.async_db.write(ports_.scheduler, [this, live](Tx& tx) {
    return claim_due_purchases(tx, live, tx.now() + pace_.again, pace_.claimed);
  });
  if (!due) co_return;
  for (const auto id : *due) {
    while (tasks_.jobs() >= pace_.at_once && !tasks_.stopping()) co_await tasks_.wait(pace_.poll);
    if (tasks_.stopping()) co_return;
    tasks_.start_job(ask(id), "question about a purchase",
                     [this](const std::exception_ptr&) { tasks_.wake(); });
  }
}

Task<void> Reconciliation::ask(PurchaseId id) {
  // Settlement::settle() logs a failure; the purchase is due again after `Pace::again`.
  co_await ports_.settlement.settle(ports_.scheduler, id);
}

Task<void> Reconciliation::count_pending() {
  const bool live = ports_.settlement.processor().live();
  const auto old = co_await ports_.async_db.read(ports_.scheduler, [live](Tx& tx) {
    return count_old_pending_purchases(tx, live, tx.now() - kOldPending, kMostCounted);
  });
  if (old) ports_.metrics.set("presetbridge_purchases_pending_old", static_cast<double>(*old));
}

}  // namespace presetbridge::services
