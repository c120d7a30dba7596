// Sessions (spec 7.2): one sign-in of a person each, by whichever issuer. A session gives ID tokens that the
// built-in issuer signs, and refresh tokens that replace one another. Its tokens are refused
// once it has ended: each ID token names its session (`sid`), and a request asks whether that stands.
//
// A session is of a browser, which holds its refresh token as a cookie, or of a program, which got it in a
// body. Two tabs of a browser may refresh at once, and an answer may be lost: a token that was replaced in
// the last 10 s gives another one, beside its successor. Any other use of a replaced token ends the session:
// one of its two holders is a thief.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/task.h"
#include "base/time.h"
#include "identity/audit.h"
#include "identity/login_failure.h"
#include "identity/membership.h"
#include "identity/principal.h"
#include "identity/signing_keys.h"
#include "net/client_address.h"
#include "net/key_budget.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/session_store.h"

namespace presetbridge::identity {

inline constexpr std::string_view kRefreshTokenPrefix = "pdb_refresh_";

// In which a browser's replaced token gives another one.
inline constexpr Millis kRefreshGrace = std::chrono::seconds{10};

struct SessionOptions {
  std::string iss;  // of the built-in issuer
  std::string audience = "presetbridge";
  Millis token_lifetime = std::chrono::hours{1};
  Millis idle_lifetime = std::chrono::hours{24 * 30};     // since the last use
  Millis longest_lifetime = std::chrono::hours{24 * 90};  // since it began
  int most = 100;                 // of a person, of browsers and of programs each; the oldest give way
  std::int64_t most_tokens = 50;  // of one session in force at once
  // The refreshes of a person (spec 8.6): each leaves a row for as long as its token would have been good.
  net::KeyBudget::Limits refreshes = {.times = 600, .window = std::chrono::minutes{10}};
  // The sessions that a person begins or confirms: each leaves rows too, of the audit log at least.
  net::KeyBudget::Limits begun = {.times = 200, .window = std::chrono::hours{1}};
};

// The result of a sign-in.
struct Tokens {
  std::string id_token;
  Timestamp id_token_expires_at;
  std::string refresh_token;  // empty: as before (confirm())
  Timestamp refresh_token_expires_at;
  Millis refresh_token_lifetime{0};
  UserId user;
  AccountId account;
  std::string email;
  SessionId session;
  bool browser = false;
  std::optional<Timestamp> authenticated_at;
};

// Who asks for a session, as it is shown to the person later.
struct Device {
  bool browser = false;
  std::string network;     // of the client (net::Caller); may be empty
  std::string user_agent;  // a few words (user_agent.h)
  std::string request_id = {};

  Origin origin() const { return {network, request_id}; }
};

// Thread-safe; tasks resume on `executor`.
class Sessions {
 public:
  // All outlive this.
  struct Deps {
    storage::AsyncDatabase& async_db;
    const SigningKeys& keys;
    IdSource& ids;
    Random& random;
    const Clock& clock;
    Log& log;
  };
  Sessions(Deps deps, SessionOptions options)
      : deps_(deps),
        options_(std::move(options)),
        refreshes_(deps.clock, options_.refreshes),
        begun_(deps.clock, options_.begun) {}

  // Data of a transaction for the tokens that are made after its commit.
  struct Opened {
    storage::SessionRow session;
    AccountId account;
    std::string refresh_token;
    Timestamp refresh_expires_at;
    Timestamp now;
    std::optional<bool> email_verified;  // nothing: the address is another issuer's business
  };
  struct Start {
    Membership member;
    std::string iss;  // the identity that signed in
    std::string sub;
    std::string email;  // as its issuer says; may be empty
    std::optional<Timestamp> authenticated_at;
    Device device;
  };
  // Begins a session in `tx`. SIGN_IN_STATE_INVALID is thrown, as an Error, where there is one with this
  // `id` already.
  Opened open(storage::Tx& tx, SessionId id, Start start) const;
  // How long until the person may begin another session; 0: now. For whoever calls open(), before it.
  Millis wait_to_begin(UserId user) { return begun_.wait(to_string(user)); }
  // Counts the session that open() has begun, after its commit, and makes its tokens.
  Expected<Tokens> begin(Opened opened);
  // Revokes everything of the person in `tx`.
  static void end_all(storage::Tx& tx, UserId user);

  // UNAUTHORIZED: the token is unknown, expired, replaced, or of the other kind of session than `device`.
  // RATE_LIMIT_EXCEEDED: too many of the person, or at once within kRefreshGrace; nothing is used up.
  Task<LoginResult<Tokens>> refresh(Executor& executor, std::string refresh_token, Device device);
  // Ends the session that the token is of. False: the token is not known, which is no error.
  Task<Expected<bool>> sign_out(Executor& executor, std::string refresh_token, Origin origin = {});
  // The session that a browser's refresh token is of. UNAUTHORIZED: none that stands, or not in force.
  Task<Expected<storage::SessionRow>> of_token(Executor& executor, std::string refresh_token);

  // The person's own that stand, newest first.
  Task<Expected<storage::Page<storage::SessionRow>>> list(Executor& executor, Principal by,
                                                          storage::PageRequest page);
  // NOT_FOUND: not one of the person's.
  Task<Expected<void>> end(Executor& executor, Principal by, SessionId id);
  Task<Expected<void>> end_all(Executor& executor, Principal by);
  // Ends all sessions of the person but that of their ID token.
  Task<Expected<void>> end_others(Executor& executor, Principal by);

  // The person has just proved who they are, `at` that time: an ID token that says so. UNAUTHORIZED: the
  // session has ended. RATE_LIMIT_EXCEEDED: the person began and confirmed too many.
  Task<LoginResult<Tokens>> confirm(Executor& executor, SessionId id,
                                    std::optional<Timestamp> at = std::nullopt, Origin origin = {});

 private:
  // Further findings of a refresh.
  struct Refused {
    bool reused = false;  // its session was ended
    Millis wait{0};       // it was too often
  };
  Expected<Opened> refresh_known(storage::Tx& tx, storage::Blob hash, const storage::SessionTokenRow& token,
                                 const Device& device, Refused& refused);
  Expected<Opened> refresh_of_before(storage::Tx& tx, storage::Blob hash, const Device& device,
                                     Refused& refused) const;
  Expected<Tokens> tokens(Opened opened) const;
  Opened add_token(storage::Tx& tx, storage::SessionRow session, AccountId account) const;
  std::optional<bool> email_verified(storage::Tx& tx, const storage::SessionRow& session) const;
  // Of whom the identity is, if it is anybody's yet.
  void audit_session(storage::Tx& tx, const storage::SessionRow& session, const Origin& origin,
                     const Deed& deed) const;

  const Deps deps_;
  const SessionOptions options_;
  net::KeyBudget refreshes_;  // of people
  net::KeyBudget begun_;      // of people
};

}  // namespace presetbridge::identity
