#include "services/credits/credits.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/id_time.h"
#include "identity/audit.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {

using storage::LedgerEntry;
using storage::Tx;

namespace {

constexpr int kScanBatch = 500;

std::unexpected<Error> no_such_account() {
  return fail("NOT_FOUND", "There is no such account.");
}

storage::Page<LedgerEntry> page_of(std::vector<LedgerEntry> rows, const storage::PageRequest& page) {
  return make_page(std::move(rows), page, [](const LedgerEntry& entry) { return entry.id.value; });
}

// An entry's id is made a moment before or after the time that it holds.
constexpr Millis kIdsDrift = std::chrono::minutes{1};

storage::Page<LedgerEntry> named(Tx& tx, storage::Page<LedgerEntry> page) {
  name_orders(tx, page.rows);
  return page;
}

bool wants(const Credits::LedgerFilter& filter, const LedgerEntry& entry) {
  return (!filter.kind || entry.kind == filter.kind) && (!filter.since || entry.at >= *filter.since) &&
         (!filter.before || entry.at < *filter.before);
}
// The first id that may be wanted, and that behind the last one.
std::pair<LedgerId, std::int64_t> ids_of(const Credits::LedgerFilter& filter) {
  LedgerId first;
  auto end = std::numeric_limits<std::int64_t>::max();
  if (filter.since) first.value = first_id_at(*filter.since - kIdsDrift);
  if (filter.before) end = first_id_at(*filter.before + kIdsDrift);
  return {first, end};
}

}  // namespace

Task<Expected<Credits::View>> Credits::balance(Executor& executor, identity::Principal by) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<View> {
    const auto found = find_balance(tx, by.account);
    if (!found) return no_such_account();
    return View{*found, credits_low_at(tx, by.account), credit_pace(tx, by.account, *found)};
  });
}

Task<Expected<Credits::View>> Credits::set_low_at(Executor& executor, identity::Principal by,
                                                  std::optional<std::int64_t> low_at) {
  co_return co_await async_db_.write(executor, [&](Tx& tx) -> Expected<View> {
    const auto found = lock_balance(tx, by.account);
    if (!found) return no_such_account();
    const auto words = [](std::optional<std::int64_t> at) {
      return at ? std::to_string(*at) : std::string("as the service is set");
    };
    const auto before = credits_low_at(tx, by.account);
    set_credits_low_at(tx, by.account, low_at);
    identity::audit(tx, ids_, by,
                    {.action = "credits.low_threshold_changed",
                     .detail = words(low_at),
                     .changes = {{"lowAt", words(before), words(low_at)}}});
    return View{*found, low_at, credit_pace(tx, by.account, *found)};
  });
}

Task<Expected<storage::Page<LedgerEntry>>> Credits::ledger(Executor& executor, identity::Principal by,
                                                           LedgerFilter filter, storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    std::vector<LedgerEntry> rows;
    const auto wanted = static_cast<std::size_t>(page.fetch());
    const bool all = !filter.kind;
    const int batch = all ? page.fetch() : kScanBatch;
    const auto [first, end] = ids_of(filter);
    LedgerId before{std::min(page.before, end)};
    for (int scanned = 0; rows.size() < wanted && scanned < max_scanned; scanned += batch) {
      auto entries = list_ledger(tx, by.account, before, batch, first);
      const bool last = std::ssize(entries) < batch;
      if (!last) before = entries.back().id;
      std::erase_if(entries, [&](const LedgerEntry& entry) { return !wants(filter, entry); });
      std::ranges::move(entries, std::back_inserter(rows));
      if (rows.size() > wanted) rows.resize(wanted);
      if (last) return named(tx, page_of(std::move(rows), page));
    }
    const bool more = rows.size() < wanted;
    auto found = named(tx, page_of(std::move(rows), page));
    if (more) found.next = before.value;
    return found;
  });
}

Task<Expected<domain::Balance>> Credits::grant(Executor& executor, AccountId account, std::int64_t credits,
                                               std::string note, std::string name) {
  if (note.size() > max_note_bytes)
    co_return fail("VALIDATION_FAILED", fmt::format("A note has at most {} bytes.", max_note_bytes));
  auto granted = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<domain::Balance> {
    const auto before = lock_balance(tx, account);
    if (!before) return fail("NOT_FOUND", "There is no such account.");
    auto after = domain::grant(*before, credits);
    if (!after) return fail("VALIDATION_FAILED", after.error().message);
    update_balance(tx, account, *after);
    const auto book = [&](domain::LedgerEntryKind kind, std::int64_t amount) {
      const LedgerEntry entry{.id = ids_.make<LedgerId>(),
                              .at = tx.now(),
                              .kind = kind,
                              .credits = amount,
                              .note = note,
                              .balance_after = after->within_reach()};
      append_ledger(tx, std::array{storage::LedgerRow{account, entry}});
    };
    book(domain::LedgerEntryKind::grant, credits);
    if (const auto paid = before->debt - after->debt; paid > 0)
      book(domain::LedgerEntryKind::debt_paid, paid);
    const auto more = after->available() - before->available();
    if (more > 0) give_out_credits(tx, account, more);
    const auto detail = note.empty() ? std::to_string(credits) : fmt::format("{}: {}", credits, note);
    insert_audit(tx, ids_,
                 {.account = account,
                  .actor = "operator",
                  .action = "credits.granted",
                  .target = "",
                  .detail = detail,
                  .actor_name = name});
    return after;
  });
  if (granted) changed_();
  if (!granted && granted.error().code == "STORAGE_UNAVAILABLE") {
    co_return fail("STORAGE_UNAVAILABLE",
                   "The storage is not available. The credits may have been granted: check the ledger before "
                   "you grant them again.");
  }
  co_return granted;
}

}  // namespace presetbridge::services
