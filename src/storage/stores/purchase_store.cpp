#include "storage/stores/purchase_store.h"

#include <algorithm>
#include <tuple>

#include "base/id_time.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &PurchaseRow::id, Update::key},
    Column{"account_id", &PurchaseRow::account, Update::no},
    Column{"actor", &PurchaseRow::actor, Update::no},
    Column{"created_at", &PurchaseRow::created_at, Update::no},
    Column{"live", &PurchaseRow::live, Update::no},
    Column{"pack_id", &PurchaseRow::pack_id, Update::no},
    Column{"pack_name", &PurchaseRow::pack_name, Update::no},
    Column{"credits", &PurchaseRow::credits, Update::no},
    Column{"amount", &PurchaseRow::amount, Update::no},
    Column{"currency", &PurchaseRow::currency, Update::no},
    Column{"session", &PurchaseRow::session, kEmptyIsNull},
    Column{"url", &PurchaseRow::url},
    Column{"expires_at", &PurchaseRow::expires_at, Update::no},
    Column{"payment", &PurchaseRow::payment, kEmptyIsNull},
    Column{"receipt_url", &PurchaseRow::receipt_url},
    Column{"state", [](auto& p) -> auto& { return p.standing.state; }, kNamed<domain::parse_purchase_state>},
    Column{"paid_at", &PurchaseRow::paid_at},
    Column{"granted", [](auto& p) -> auto& { return p.standing.granted; }},
    Column{"reversed", [](auto& p) -> auto& { return p.standing.reversed; }},
    Column{"refunded", [](auto& p) -> auto& { return p.standing.refunded; }},
    Column{"disputed", [](auto& p) -> auto& { return p.standing.disputed; }},
    Column{"problem", [](auto& p) -> auto& { return p.standing.problem; }},
    Column{"asked", &PurchaseRow::asked, Update::no},
    Column{"answered", &PurchaseRow::answered},
    Column{"asked_at", &PurchaseRow::asked_at, Update::no},
    Column{"due_at", &PurchaseRow::due_at},
};
constexpr auto read_purchase = read_row<PurchaseRow, kColumns>;

constexpr Sql kInsert = sql<"INSERT INTO purchases ", kInsertion<kColumns>>;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM purchases WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM purchases WHERE id = $1 <for_update>">;
constexpr Sql kOfSession{"SELECT id FROM purchases WHERE session = $1"};
constexpr Sql kOfPayment{"SELECT id FROM purchases WHERE payment = $1"};
constexpr Sql kUpdate = sql<"UPDATE purchases SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
constexpr Sql kNumberQuestion =
    sql<"UPDATE purchases SET asked = asked + 1, asked_at = $2 WHERE id = $1 RETURNING ",
        kSelected<kColumns>>;
constexpr Sql kList = sql<"SELECT ", kSelected<kColumns>,
                          " FROM purchases WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
constexpr Sql kListOfState =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM purchases WHERE account_id = $1 AND state = $2 AND id < $3 ORDER BY id DESC LIMIT $4">;
constexpr Sql kListAll =
    sql<"SELECT ", kSelected<kColumns>, " FROM purchases WHERE id < $1 ORDER BY id DESC LIMIT $2">;
constexpr Sql kListAllOfState = sql<"SELECT ", kSelected<kColumns>,
                                    " FROM purchases WHERE state = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
constexpr Sql kCountPending{
    "SELECT count(*) FROM (SELECT id FROM purchases WHERE account_id = $1 AND state = 'pending' AND live = $2"
    " AND id >= $3 LIMIT $4) AS counted"};
constexpr Sql kCountOldPending{
    "SELECT count(*) FROM (SELECT id FROM purchases WHERE state = 'pending' AND id < $1 AND live = $2 LIMIT "
    "$3)"
    " AS counted"};
constexpr Sql kAnyDue{"SELECT 1 FROM purchases WHERE due_at <= $1 AND live = $2 LIMIT 1"};
constexpr Sql kClaim{
    "WITH q AS MATERIALIZED (SELECT id FROM purchases WHERE due_at <= $1 AND live = $2 ORDER BY due_at"
    " LIMIT $3 <lock>) UPDATE purchases SET due_at = $4 WHERE id IN (SELECT id FROM q) RETURNING id"};
constexpr Sql kMakeDue{"UPDATE purchases SET due_at = $2, asked = asked + 1 WHERE id = $1"};
constexpr Sql kMakePendingDue{
    "UPDATE purchases SET due_at = $1, asked = asked + 1 WHERE id IN (SELECT id FROM purchases WHERE state = "
    "'pending' ORDER BY "
    "id"
    " DESC LIMIT $2)"};
constexpr Sql kRereadNotices{
    "UPDATE payment_notices SET owner = '', lease_expires_at = 0, since = $2, until = $2, page = ''"
    " WHERE live = $1 AND since > $2"};
constexpr Sql kFirstNotices{
    "INSERT INTO payment_notices (live, owner, lease_expires_at, since, until, page)"
    " VALUES ($1, '', 0, $2, $2, '') ON CONFLICT (live) DO NOTHING"};
constexpr Sql kLeaseNotices{
    "UPDATE payment_notices SET owner = $2, lease_expires_at = $3 WHERE live = $1 AND (owner = $2 OR"
    " lease_expires_at <= $4) RETURNING since, until, page"};
constexpr Sql kAdvanceNotices{
    "UPDATE payment_notices SET since = $3, until = $4, page = $5 WHERE live = $1 AND owner = $2"};

PurchaseId read_id(const Row& r) {
  return r.id<PurchaseId>(0);
}
std::int64_t read_number(const Row& r) {
  return r.int64(0);
}
std::int64_t id_of(const PurchaseRow& row) {
  return row.id.value;
}

}  // namespace

void insert_purchase(Tx& tx, const PurchaseRow& row) {
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(row, texts));
}

std::optional<PurchaseRow> find_purchase(Tx& tx, PurchaseId id) {
  return tx.one(kFind, id, read_purchase);
}
std::optional<PurchaseRow> lock_purchase(Tx& tx, PurchaseId id) {
  return tx.one(kLock, id, read_purchase);
}
std::optional<PurchaseId> find_purchase_of_session(Tx& tx, std::string_view session) {
  return tx.one(kOfSession, session, read_id);
}
std::optional<PurchaseId> find_purchase_of_payment(Tx& tx, std::string_view payment) {
  return tx.one(kOfPayment, payment, read_id);
}

void update_purchase(Tx& tx, const PurchaseRow& row) {
  Texts texts;
  tx.exec_params(kUpdate, update_params<kColumns>(row, texts));
}

std::optional<PurchaseRow> number_question(Tx& tx, PurchaseId id) {
  return tx.one(kNumberQuestion, id, tx.now(), read_purchase);
}

Page<PurchaseRow> list_purchases(Tx& tx, AccountId account, std::optional<domain::PurchaseState> state,
                                 const PageRequest& page) {
  std::vector<PurchaseRow> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_purchase(r)); };
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
  const auto add = [&](const Row& r) { rows.push_back(read_purchase(r)); };
  if (state) {
    tx.query(kListAllOfState, domain::to_string(*state), page.before, page.fetch(), add);
  } else {
    tx.query(kListAll, page.before, page.fetch(), add);
  }
  return make_page(std::move(rows), page, id_of);
}

std::int64_t count_pending_purchases(Tx& tx, AccountId account, bool live, Timestamp since, int most) {
  return tx.one(kCountPending, account, live, first_id_at(since), most, read_number).value();
}
std::int64_t count_old_pending_purchases(Tx& tx, bool live, Timestamp before, int most) {
  return tx.one(kCountOldPending, first_id_at(before), live, most, read_number).value();
}

bool any_purchase_due(Tx& tx, bool live) {
  return tx.one(kAnyDue, tx.now(), live, read_number).has_value();
}
std::vector<PurchaseId> claim_due_purchases(Tx& tx, bool live, Timestamp again, int limit) {
  std::vector<PurchaseId> ids;
  tx.query(kClaim, tx.now(), live, limit, again, [&](const Row& r) { ids.push_back(read_id(r)); });
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
