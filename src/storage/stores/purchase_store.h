// Purchases of credits, and how far the processor's notices of them are read (spec 11.2, 11.3). A purchase's
// row is locked while it is settled, before its account's (docs/architecture.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/purchase.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct PurchaseRow {
  PurchaseId id;
  AccountId account;
  std::string actor;
  Timestamp created_at;
  bool live = false;
  // The pack as it was then.
  std::string pack_id;
  std::string pack_name;
  std::int64_t credits = 0;
  std::int64_t amount = 0;
  std::string currency;
  // The processor's; empty until it is known.
  std::string session;
  std::string url;  // of the page
  Timestamp expires_at;
  std::string payment;
  std::string receipt_url;
  domain::PurchaseStanding standing;
  std::optional<Timestamp> paid_at;
  std::int64_t asked = 0;     // questions to the processor, and news, so far
  std::int64_t answered = 0;  // of the latest question whose answer counts
  std::optional<Timestamp> asked_at;
  std::optional<Timestamp> due_at;

  domain::PurchaseTerms terms() const {
    return {to_string(id), to_string(account), credits, amount, currency, live};
  }
};

void insert_purchase(Tx& tx, const PurchaseRow& row);
std::optional<PurchaseRow> find_purchase(Tx& tx, PurchaseId id);
std::optional<PurchaseRow> lock_purchase(Tx& tx, PurchaseId id);
std::optional<PurchaseId> find_purchase_of_session(Tx& tx, std::string_view session);
std::optional<PurchaseId> find_purchase_of_payment(Tx& tx, std::string_view payment);
// What may change: from `session` on.
void update_purchase(Tx& tx, const PurchaseRow& row);
// Numbers the next question; nothing: there is no such purchase.
std::optional<PurchaseRow> number_question(Tx& tx, PurchaseId id);

// Newest first. `state`: only those; nothing: all.
Page<PurchaseRow> list_purchases(Tx& tx, AccountId account, std::optional<domain::PurchaseState> state,
                                 const PageRequest& page);
Page<PurchaseRow> list_all_purchases(Tx& tx, std::optional<domain::PurchaseState> state,
                                     const PageRequest& page);
// Pending ones, at most so many; of all accounts those that are older than `before`.
std::int64_t count_pending_purchases(Tx& tx, AccountId account, int most);
std::int64_t count_old_pending_purchases(Tx& tx, Timestamp before, int most);

// Those that are to be asked about by now, longest due first; they are due again at `again`.
bool any_purchase_due(Tx& tx);
std::vector<PurchaseId> claim_due_purchases(Tx& tx, Timestamp again, int limit);
// There is news: numbered as a question is, so that no answer to an earlier one ends that it is due.
void make_purchase_due(Tx& tx, PurchaseId id, Timestamp at);
// The newest that are pending; how many.
std::int64_t make_pending_purchases_due(Tx& tx, Timestamp at, int most);

struct NoticeCursor {
  Timestamp since;
  Timestamp until;  // at or before `since`: a new stretch begins
  std::string page;
};
// Nothing: another node reads them. Where none are read yet all from `first` on are to be.
std::optional<NoticeCursor> lease_notices(Tx& tx, bool live, std::string_view owner, Timestamp expires_at,
                                          Timestamp first);
// Notices from `since` on are read again, where that is earlier.
void reread_notices(Tx& tx, bool live, Timestamp since);
// False: the lease is another's by now.
bool advance_notices(Tx& tx, bool live, std::string_view owner, const NoticeCursor& cursor);

}  // namespace presetbridge::storage
