#include "storage/stores/session_store.h"

#include <tuple>
#include <utility>
#include <vector>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &SessionRow::id},
    Column{"user_id", &SessionRow::user},
    Column{"iss", &SessionRow::iss},
    Column{"sub", &SessionRow::sub},
    Column{"email", &SessionRow::email},
    Column{"browser", &SessionRow::browser},
    Column{"authenticated_at", &SessionRow::authenticated_at},
    Column{"created_at", &SessionRow::created_at},
    Column{"last_used_at", &SessionRow::last_used_at},
    Column{"expires_at", &SessionRow::expires_at},
    Column{"ended_at", &SessionRow::ended_at},
    Column{"network", &SessionRow::network},
    Column{"user_agent", &SessionRow::user_agent},
};
constexpr auto read_session = read_row<SessionRow, kColumns>;

constexpr Sql kInsert = sql<"INSERT INTO sessions ", kInsertion<kColumns>, " ON CONFLICT (id) DO NOTHING">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM sessions WHERE id = $1 <for_update>">;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM sessions WHERE id = $1">;
constexpr Sql kUse{
    "UPDATE sessions SET last_used_at = $2, expires_at = $3, network = $4, user_agent = $5 WHERE id = $1"};
constexpr Sql kHasFrom{
    "SELECT 1 FROM sessions WHERE user_id = $1 AND ended_at IS NULL AND network = $2 LIMIT 1"};
constexpr Sql kAuthenticated{"UPDATE sessions SET authenticated_at = $2 WHERE id = $1"};
constexpr Sql kList =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM sessions WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 AND id < $3"
        " ORDER BY id DESC LIMIT $4">;
#define PDB_SESSION_BLANK ", email = '', network = '', user_agent = ''"
constexpr Sql kEnd{"UPDATE sessions SET ended_at = $3" PDB_SESSION_BLANK
                   " WHERE id = $1 AND user_id = $2 AND ended_at IS NULL"};
constexpr Sql kEndAll{"UPDATE sessions SET ended_at = $2" PDB_SESSION_BLANK
                      " WHERE user_id = $1 AND id <> $3 AND ended_at IS NULL"};
constexpr Sql kNewestSurplus{
    "SELECT id FROM sessions WHERE user_id = $1 AND browser = $2 AND ended_at IS NULL"
    " ORDER BY id DESC LIMIT 1 OFFSET $3"};
constexpr Sql kEndSurplus{"UPDATE sessions SET ended_at = $4" PDB_SESSION_BLANK
                          " WHERE user_id = $1 AND browser = $2 AND id <= $3 AND ended_at IS "
                          "NULL"};
// By the primary key alone: the code checks whether the session stands, so that no plan begins with all
// that do.
constexpr Sql kMember{
    "SELECT i.account_id, i.user_id, i.role, s.iss, s.sub, s.email, s.browser, s.expires_at, s.ended_at"
    " FROM sessions s JOIN identities i ON i.iss = s.iss AND i.sub = s.sub WHERE s.id = $1"};

constexpr Sql kInsertToken{"INSERT INTO session_tokens (hash, session_id, expires_at) VALUES ($1, $2, $3)"};
constexpr Sql kFindToken{"SELECT session_id, expires_at, replaced_at FROM session_tokens WHERE hash = $1"};
constexpr Sql kReplaceTokens{
    "UPDATE session_tokens SET replaced_at = $2 WHERE session_id = $1 AND replaced_at IS NULL"};
constexpr Sql kHasTokens{
    "SELECT session_id FROM session_tokens WHERE session_id = $1 AND replaced_at IS NULL LIMIT 1 OFFSET $2"};

constexpr Sql kDeleteTokens{
    "DELETE FROM session_tokens WHERE hash IN"
    " (SELECT hash FROM session_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"};
constexpr Sql kDeleteSessions{
    "DELETE FROM sessions WHERE id IN"
    " (SELECT id FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"
    " AND expires_at < $1"};  // again, for a session that was used since

}  // namespace

bool insert_session(Tx& tx, const SessionRow& row) {
  Texts texts;
  return tx.exec_params(kInsert, insert_params<kColumns>(row, texts)) == 1;
}

std::optional<SessionRow> lock_session(Tx& tx, SessionId id) {
  return tx.one(kLock, id, read_session);
}

std::optional<SessionRow> find_session(Tx& tx, SessionId id) {
  auto row = tx.one(kFind, id, read_session);
  if (row && !row->stands(tx.now())) row.reset();
  return row;
}

void update_session_use(Tx& tx, const SessionRow& row) {
  tx.exec(kUse, row.id, row.last_used_at, row.expires_at, row.network, row.user_agent);
}

void set_session_authenticated(Tx& tx, SessionId id, Timestamp at) {
  tx.exec(kAuthenticated, id, at);
}

Page<SessionRow> list_sessions(Tx& tx, UserId user, const PageRequest& page) {
  std::vector<SessionRow> rows;
  tx.query(kList, user, tx.now(), page.before, page.fetch(),
           [&](const Row& r) { rows.push_back(read_session(r)); });
  return make_page(std::move(rows), page, [](const SessionRow& row) { return row.id.value; });
}

bool end_session(Tx& tx, UserId user, SessionId id) {
  return tx.exec(kEnd, id, user, tx.now()) == 1;
}

std::int64_t end_sessions_of(Tx& tx, UserId user, SessionId but) {
  return tx.exec(kEndAll, user, tx.now(), but);
}

void end_surplus_sessions(Tx& tx, UserId user, bool browser, int most) {
  const auto surplus =
      tx.one(kNewestSurplus, user, browser, most, [](const Row& r) { return r.id<SessionId>(0); });
  if (surplus) tx.exec(kEndSurplus, user, browser, *surplus, tx.now());
}

std::optional<SessionMember> find_session_member(Tx& tx, SessionId id) {
  const auto now = tx.now();
  std::optional<SessionMember> member;
  tx.query(kMember, id, [&](const Row& r) {
    if (!r.is_null(8) || now >= r.time(7)) return;
    member = SessionMember{.identity = {r.id<AccountId>(0), r.id<UserId>(1), r.string(2)},
                           .iss = r.string(3),
                           .sub = r.string(4),
                           .email = r.string(5),
                           .browser = r.flag(6)};
  });
  return member;
}

void insert_session_token(Tx& tx, Blob hash, SessionId session, Timestamp expires_at) {
  tx.exec(kInsertToken, hash, session, expires_at);
}

std::optional<SessionTokenRow> find_session_token(Tx& tx, Blob hash) {
  return tx.one(kFindToken, hash,
                [](const Row& r) { return SessionTokenRow{r.id<SessionId>(0), r.time(1), r.opt_time(2)}; });
}

void replace_session_tokens(Tx& tx, SessionId session) {
  tx.exec(kReplaceTokens, session, tx.now());
}

bool has_session_from(Tx& tx, UserId user, std::string_view network) {
  return tx.one(kHasFrom, user, network, [](const Row&) { return true; }).value_or(false);
}
bool has_session_tokens(Tx& tx, SessionId session, std::int64_t count) {
  return tx.one(kHasTokens, session, count - 1, [](const Row&) { return true; }).value_or(false);
}

std::int64_t delete_expired_session_tokens(Tx& tx, Timestamp expired_before, int limit) {
  return tx.exec(kDeleteTokens, expired_before, limit);
}

std::int64_t delete_expired_sessions(Tx& tx, Timestamp expired_before, int limit) {
  return tx.exec(kDeleteSessions, expired_before, limit);
}

}  // namespace presetbridge::storage
