// People's sessions and their refresh tokens (spec 7.2). A session stands until it is ended or expires;
// each use of a token replaces it by another.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::storage {

struct SessionRow {
  SessionId id;
  UserId user;
  std::string iss;
  std::string sub;
  std::string email;
  bool browser = false;
  std::optional<Timestamp> authenticated_at;  // nothing: not known
  Timestamp created_at;
  Timestamp last_used_at;
  Timestamp expires_at;
  std::optional<Timestamp> ended_at;
  std::string network;
  std::string user_agent;

  bool stands(Timestamp now) const { return !ended_at && now < expires_at; }
};
// False, and nothing is written: there is a session with this id.
bool insert_session(Tx& tx, const SessionRow& row);
// Locked until the transaction ends; whether or not it stands.
std::optional<SessionRow> lock_session(Tx& tx, SessionId id);
std::optional<SessionRow> find_session(Tx& tx, SessionId id);  // one that stands
// Notes a use: writes last_used_at, expires_at, network and user_agent of `row`.
void update_session_use(Tx& tx, const SessionRow& row);
// Whether the user has a session that was not ended and was last used from `network`.
bool has_session_from(Tx& tx, UserId user, std::string_view network);
void set_session_authenticated(Tx& tx, SessionId id, Timestamp at);
// The user's sessions that stand, newest first.
Page<SessionRow> list_sessions(Tx& tx, UserId user, const PageRequest& page);
// Ends the session, and blanks its e-mail address and device, as the next two do. False: the user has no
// session with this id that has not ended.
bool end_session(Tx& tx, UserId user, SessionId id);
// Ends all sessions of the user, or all but one; returns how many.
std::int64_t end_sessions_of(Tx& tx, UserId user, SessionId but = {});
// Ends all but the newest `most` of the user's sessions of that kind.
void end_surplus_sessions(Tx& tx, UserId user, bool browser, int most);

// The identity of a session that stands, and its own data of the person.
struct SessionMember {
  IdentityRow identity;
  std::string iss;
  std::string sub;
  std::string email;
  bool browser = false;
};
std::optional<SessionMember> find_session_member(Tx& tx, SessionId id);

struct SessionTokenRow {
  SessionId session;
  Timestamp expires_at;
  std::optional<Timestamp> replaced_at;
};
void insert_session_token(Tx& tx, Blob hash, SessionId session, Timestamp expires_at);
std::optional<SessionTokenRow> find_session_token(Tx& tx, Blob hash);
// Marks all tokens of the session that are in force as replaced now.
void replace_session_tokens(Tx& tx, SessionId session);
// Whether the session has at least `count` tokens in force.
bool has_session_tokens(Tx& tx, SessionId session, std::int64_t count);

// Each deletes at most `limit` rows that expired before `expired_before`, and returns how many.
std::int64_t delete_expired_session_tokens(Tx& tx, Timestamp expired_before, int limit);
std::int64_t delete_expired_sessions(Tx& tx, Timestamp expired_before, int limit);

}  // namespace presetbridge::storage
