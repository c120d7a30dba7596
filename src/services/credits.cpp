#include "services/credits.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "storage/audit_store.h"
#include "storage/chore_store.h"

namespace presetbridge::services {

using storage::LedgerEntry;
using storage::Tx;

namespace {

constexpr int kLookPiece = 500;

std::unexpected<Error> no_such_account() {
  return fail("NOT_FOUND", "There is no such account.");
}

storage::Page<LedgerEntry> page_of(std::vector<LedgerEntry> rows, const storage::PageRequest& page) {
  return make_page(std::move(rows), page, [](const LedgerEntry& entry) { return entry.id.value; });
}

}  // namespace

Task<Expected<Credits::View>> Credits::balance(Executor& executor, identity::Principal by) {
  co_return co_await commits_.read(executor, [&](Tx& tx) -> Expected<View> {
    const auto found = find_balance(tx, by.account);
    if (!found) return no_such_account();
    return View{*found, credits_low_at(tx, by.account)};
  });
}

Task<Expected<Credits::View>> Credits::set_low_at(Executor& executor, identity::Principal by,
                                                  std::optional<std::int64_t> low_at) {
  co_return co_await commits_.write(executor, [&](Tx& tx) -> Expected<View> {
    const auto found = lock_balance(tx, by.account);
    if (!found) return no_such_account();
    set_credits_low_at(tx, by.account, low_at);
    insert_audit(tx, ids_,
                 {by.account, to_string(by.actor()), "credits.low_threshold_changed", "",
                  low_at ? std::to_string(*low_at) : "as the service is set"});
    return View{*found, low_at};
  });
}

Task<Expected<storage::Page<LedgerEntry>>> Credits::ledger(Executor& executor, identity::Principal by,
                                                           std::string kind, storage::PageRequest page) {
  co_return co_await commits_.read(executor, [&](Tx& tx) {
    std::vector<LedgerEntry> rows;
    const auto wanted = static_cast<std::size_t>(page.fetch());
    const int piece = kind.empty() ? page.fetch() : kLookPiece;
    LedgerId before{page.before};
    for (int looked = 0; rows.size() < wanted && looked < max_looked_at; looked += piece) {
      auto entries = list_ledger(tx, by.account, before, piece);
      const bool last = std::ssize(entries) < piece;
      if (!last) before = entries.back().id;
      std::erase_if(entries, [&](const LedgerEntry& entry) { return !kind.empty() && entry.kind != kind; });
      std::ranges::move(entries, std::back_inserter(rows));
      if (rows.size() > wanted) rows.resize(wanted);
      if (last) return page_of(std::move(rows), page);
    }
    const bool more = rows.size() < wanted;
    auto found = page_of(std::move(rows), page);
    if (more) found.next = before.value;
    return found;
  });
}

Task<Expected<domain::Balance>> Credits::grant(Executor& executor, AccountId account, std::int64_t credits,
                                               std::string note) {
  if (note.size() > max_note_bytes)
    co_return fail("VALIDATION_FAILED", fmt::format("A note has at most {} bytes.", max_note_bytes));
  auto granted = co_await commits_.write(executor, [&](Tx& tx) -> Expected<domain::Balance> {
    const auto before = lock_balance(tx, account);
    if (!before) return fail("NOT_FOUND", "There is no such account.");
    auto after = domain::grant(*before, credits);
    if (!after) return fail("VALIDATION_FAILED", after.error().message);
    update_balance(tx, account, *after);
    const auto tell = [&](const char* kind, std::int64_t amount) {
      const LedgerEntry entry{
          .id = ids_.make<LedgerId>(), .at = tx.now(), .kind = kind, .credits = amount, .note = note};
      append_ledger(tx, std::array{storage::LedgerRow{account, entry}});
    };
    tell("grant", credits);
    if (const auto paid = before->debt - after->debt; paid > 0) tell("debt_paid", paid);
    if (after->available() > 0) add_chore(tx, account, storage::ChoreKind::resume_credits);
    const auto detail = note.empty() ? std::to_string(credits) : fmt::format("{}: {}", credits, note);
    insert_audit(tx, ids_, {account, "operator", "credits.granted", "", detail});
    return after;
  });
  if (granted) changed_();
  if (!granted && granted.error().code == "STORAGE_UNAVAILABLE") {
    co_return fail(
        "STORAGE_UNAVAILABLE",
        "The storage is not available. The credits may have been granted: look at the ledger before "
        "you grant them again.");
  }
  co_return granted;
}

}  // namespace presetbridge::services
