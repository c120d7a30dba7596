// Purchases of credits, and how far the processor's notices of them are read (spec 11.2, 11.3). The row of
// a purchase is locked while it is settled, before that of its account (docs/architecture.md).
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
  // The pack as it was when it was bought.
  std::string pack_id;
  std::string pack_name;
  std::int64_t credits = 0;
  std::int64_t amount = 0;
  std::string currency;
  // The processor's ids and addresses; empty until they are known.
  std::string session;
  std::string url;  // of the page for the payment
  Timestamp expires_at;
  std::string payment;
  std::string receipt_url;
  domain::PurchaseStanding standing;
  std::optional<Timestamp> paid_at;
  std::int64_t asked = 0;     // the number of questions to the processor, and of news, so far
  std::int64_t answered = 0;  // the number of the latest question whose answer was applied
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
// Writes the members that may change: from `session` on, but expires_at, asked and asked_at.
void update_purchase(Tx& tx, const PurchaseRow& row);
// Numbers the next question, and returns the row; nothing: there is no such purchase.
std::optional<PurchaseRow> number_question(Tx& tx, PurchaseId id);

// Newest first. `state`: only purchases in it; nothing: all.
Page<PurchaseRow> list_purchases(Tx& tx, AccountId account, std::optional<domain::PurchaseState> state,
                                 const PageRequest& page);
Page<PurchaseRow> list_all_purchases(Tx& tx, std::optional<domain::PurchaseState> state,
                                     const PageRequest& page);
// `live`, here and below: of the live mode of the payment processor, or of its test mode. The key of the one
// cannot ask about purchases of the other: they rest until the processor's mode is theirs again.

// The number of pending purchases, `most` at most: of the account, made at `since` or later; and of all
// accounts, older than `before`.
std::int64_t count_pending_purchases(Tx& tx, AccountId account, bool live, Timestamp since, int most);
std::int64_t count_old_pending_purchases(Tx& tx, bool live, Timestamp before, int most);

// Takes at most `limit` purchases that are due, longest due first: they are due again at `again`.
bool any_purchase_due(Tx& tx, bool live);
std::vector<PurchaseId> claim_due_purchases(Tx& tx, bool live, Timestamp again, int limit);
// There is news. It is numbered as a question is, so that no answer to an earlier question makes it not
// due.
void make_purchase_due(Tx& tx, PurchaseId id, Timestamp at);
// Makes the newest `most` pending purchases, of both modes, due at `at`, numbered likewise; returns how many.
std::int64_t make_pending_purchases_due(Tx& tx, Timestamp at, int most);

struct NoticeCursor {
  Timestamp since;
  Timestamp until;  // at or before `since`: a new range begins
  std::string page;
};
// Nothing: another node reads them. Where none were ever read, reading begins at `first`.
std::optional<NoticeCursor> lease_notices(Tx& tx, bool live, std::string_view owner, Timestamp expires_at,
                                          Timestamp first);
// Notices from `since` on are read again, if reading has gone past it. Ends the lease: who reads a page now
// cannot advance.
void reread_notices(Tx& tx, bool live, Timestamp since);
// False: the lease is over.
bool advance_notices(Tx& tx, bool live, std::string_view owner, const NoticeCursor& cursor);

}  // namespace presetbridge::storage
