#include "storage/stores/purchase_store.h"

#include <algorithm>

#include "base/id_time.h"

namespace presetbridge::storage {
namespace {

#define PDB_PURCHASE_COLUMNS                                                                              \
  "id, account_id, actor, created_at, live, pack_id, pack_name, credits, amount, currency, session, url," \
  " expires_at, payment, receipt_url, state, paid_at, granted, reversed, refunded, disputed, problem,"    \
  " asked, answered, asked_at, due_at"
constexpr Sql kInsert{
    "INSERT INTO purchases (id, account_id, actor, created_at, live, pack_id, pack_name, credits, amount,"
    " currency, expires_at, state, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"};
constexpr Sql kFind{"SELECT " PDB_PURCHASE_COLUMNS " FROM purchases WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_PURCHASE_COLUMNS " FROM purchases WHERE id = $1 <for_update>"};
constexpr Sql kOfSession{"SELECT id FROM purchases WHERE session = $1"};
constexpr Sql kOfPayment{"SELECT id FROM purchases WHERE payment = $1"};
constexpr Sql kUpdate{
    "UPDATE purchases SET session = $2, url = $3, payment = $4, receipt_url = $5, state = $6, paid_at = $7,"
    " granted = $8, reversed = $9, refunded = $10, disputed = $11, problem = $12, answered = $13, due_at = "
    "$14"
    " WHERE id = $1"};
constexpr Sql kNumber{
    "UPDATE purchases SET asked = asked + 1, asked_at = $2 WHERE id = $1 RETURNING " PDB_PURCHASE_COLUMNS};
constexpr Sql kList{"SELECT " PDB_PURCHASE_COLUMNS
                    " FROM purchases WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"};
constexpr Sql kListOfState{
    "SELECT " PDB_PURCHASE_COLUMNS
    " FROM purchases WHERE account_id = $1 AND state = $2 AND id < $3 ORDER BY id DESC LIMIT $4"};
constexpr Sql kListAll{"SELECT " PDB_PURCHASE_COLUMNS
                       " FROM purchases WHERE id < $1 ORDER BY id DESC LIMIT $2"};
constexpr Sql kListAllOfState{"SELECT " PDB_PURCHASE_COLUMNS
                              " FROM purchases WHERE state = $1 AND id < $2 ORDER BY id DESC LIMIT $3"};
constexpr Sql kCountPending{
    "SELECT count(*) FROM (SELECT id FROM purchases WHERE account_id = $1 AND state = 'pending' LIMIT $2) AS"
    " counted"};
constexpr Sql kCountOldPending{
    "SELECT count(*) FROM (SELECT id FROM purchases WHERE state = 'pending' AND id < $1 LIMIT $2) AS"
    " counted"};
constexpr Sql kAnyDue{"SELECT 1 FROM purchases WHERE due_at <= $1 LIMIT 1"};
constexpr Sql kClaim{
    "WITH q AS MATERIALIZED (SELECT id FROM purchases WHERE due_at <= $1 ORDER BY due_at LIMIT $2 <lock>)"
    " UPDATE purchases SET due_at = $3 WHERE id IN (SELECT id FROM q) RETURNING id"};
constexpr Sql kMakeDue{"UPDATE purchases SET due_at = $2, asked = asked + 1 WHERE id = $1"};
constexpr Sql kMakePendingDue{
    "UPDATE purchases SET due_at = $1, asked = asked + 1 WHERE id IN (SELECT id FROM purchases WHERE state = "
    "'pending' ORDER BY "
    "id"
    " DESC LIMIT $2)"};
constexpr Sql kRereadNotices{
    "UPDATE payment_notices SET since = $2, until = $2, page = '' WHERE live = $1 AND since > $2"};
constexpr Sql kFirstNotices{
    "INSERT INTO payment_notices (live, owner, lease_expires_at, since, until, page)"
    " VALUES ($1, '', 0, $2, $2, '') ON CONFLICT (live) DO NOTHING"};
constexpr Sql kLeaseNotices{
    "UPDATE payment_notices SET owner = $2, lease_expires_at = $3 WHERE live = $1 AND (owner = $2 OR"
    " lease_expires_at <= $4) RETURNING since, until, page"};
constexpr Sql kAdvanceNotices{
    "UPDATE payment_notices SET since = $3, until = $4, page = $5 WHERE live = $1 AND owner = $2"};

PurchaseRow read(const Row& r) {
  PurchaseRow row;
  row.id = r.id<PurchaseId>(0);
  row.account = r.id<AccountId>(1);
  row.actor = r.string(2);
  row.created_at = r.time(3);
  row.live = r.flag(4);
  row.pack_id = r.string(5);
  row.pack_name = r.string(6);
  row.credits = r.int64(7);
  row.amount = r.int64(8);
  row.currency = r.string(9);
  row.session = r.string_or_empty(10);
  row.url = r.string(11);
  row.expires_at = r.time(12);
  row.payment = r.string_or_empty(13);
  row.receipt_url = r.string(14);
  const auto state = domain::parse_purchase_state(r.text(15));
  if (!state) throw DbError(DbError::Kind::misuse, "a purchase has a state that there is not");
  row.paid_at = r.opt_time(16);
  row.standing = {.state = *state,
                  .granted = r.int64(17),
                  .reversed = r.int64(18),
                  .refunded = r.int64(19),
                  .disputed = r.int64(20),
                  .problem = r.string(21)};
  row.asked = r.int64(22);
  row.answered = r.int64(23);
  row.asked_at = r.opt_time(24);
  row.due_at = r.opt_time(25);
  return row;
}

PurchaseId read_id(const Row& r) {
  return r.id<PurchaseId>(0);
}
std::int64_t read_number(const Row& r) {
  return r.int64(0);
}
Param text_or_null(const std::string& text) {
  return text.empty() ? Param(nullptr) : Param(text);
}
std::int64_t id_of(const PurchaseRow& row) {
  return row.id.value;
}

}  // namespace

void insert_purchase(Tx& tx, const PurchaseRow& row) {
  tx.exec(kInsert, row.id, row.account, row.actor, row.created_at, row.live, row.pack_id, row.pack_name,
          row.credits, row.amount, row.currency, row.expires_at, domain::to_string(row.standing.state),
          row.due_at);
}

std::optional<PurchaseRow> find_purchase(Tx& tx, PurchaseId id) {
  return tx.one(kFind, id, read);
}
std::optional<PurchaseRow> lock_purchase(Tx& tx, PurchaseId id) {
  return tx.one(kLock, id, read);
}
std::optional<PurchaseId> find_purchase_of_session(Tx& tx, std::string_view session) {
  return tx.one(kOfSession, session, read_id);
}
std::optional<PurchaseId> find_purchase_of_payment(Tx& tx, std::string_view payment) {
  return tx.one(kOfPayment, payment, read_id);
}

void update_purchase(Tx& tx, const PurchaseRow& row) {
  const auto& at = row.standing;
  tx.exec(kUpdate, row.id, text_or_null(row.session), row.url, text_or_null(row.payment), row.receipt_url,
          domain::to_string(at.state), row.paid_at, at.granted, at.reversed, at.refunded, at.disputed,
          at.problem, row.answered, row.due_at);
}

std::optional<PurchaseRow> number_question(Tx& tx, PurchaseId id) {
  return tx.one(kNumber, id, tx.now(), read);
}

Page<PurchaseRow> list_purchases(Tx& tx, AccountId account, std::optional<domain::PurchaseState> state,
                                 const PageRequest& page) {
  std::vector<PurchaseRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(read(r)); };
  if (state) {
    tx.query(kListOfState, account, domain::to_string(*state), page.before, page.fetch(), add);
  } else {
    tx.query(kList, account, page.before, page.fetch(), add);
  }
  return make_page(std::move(rows), page, id_of);
}

Page<PurchaseRow> list_all_purchases(Tx& tx, std::optional<domain::PurchaseState> state,
                                     const PageRequest& page) {
  std::vector<PurchaseRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(read(r)); };
  if (state) {
    tx.query(kListAllOfState, domain::to_string(*state), page.before, page.fetch(), add);
  } else {
    tx.query(kListAll, page.before, page.fetch(), add);
  }
  return make_page(std::move(rows), page, id_of);
}

std::int64_t count_pending_purchases(Tx& tx, AccountId account, int most) {
  return tx.one(kCountPending, account, most, read_number).value();
}
std::int64_t count_old_pending_purchases(Tx& tx, Timestamp before, int most) {
  return tx.one(kCountOldPending, first_id_at(before), most, read_number).value();
}

bool any_purchase_due(Tx& tx) {
  return tx.one(kAnyDue, tx.now(), read_number).has_value();
}
std::vector<PurchaseId> claim_due_purchases(Tx& tx, Timestamp again, int limit) {
  std::vector<PurchaseId> ids;
  tx.query(kClaim, tx.now(), limit, again, [&](const Row& r) { ids.push_back(read_id(r)); });
  std::ranges::sort(ids);
  return ids;
}
void make_purchase_due(Tx& tx, PurchaseId id, Timestamp at) {
  tx.exec(kMakeDue, id, at);
}
std::int64_t make_pending_purchases_due(Tx& tx, Timestamp at, int most) {
  return tx.exec(kMakePendingDue, at, most);
}

void reread_notices(Tx& tx, bool live, Timestamp since) {
  tx.exec(kFirstNotices, live, since);
  tx.exec(kRereadNotices, live, since);
}
std::optional<NoticeCursor> lease_notices(Tx& tx, bool live, std::string_view owner, Timestamp expires_at,
                                          Timestamp first) {
  tx.exec(kFirstNotices, live, first);
  return tx.one(kLeaseNotices, live, owner, expires_at, tx.now(),
                [](const Row& r) { return NoticeCursor{r.time(0), r.time(1), r.string(2)}; });
}
bool advance_notices(Tx& tx, bool live, std::string_view owner, const NoticeCursor& cursor) {
  return tx.exec(kAdvanceNotices, live, owner, cursor.since, cursor.until, cursor.page) == 1;
}

}  // namespace presetbridge::storage
