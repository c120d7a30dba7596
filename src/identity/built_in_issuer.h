// The embedded issuer (spec 7.2): people with e-mail and password, and the sessions (sessions.h) of all
// people, whose ID tokens (ES256, one hour) it signs. It is verified like any other issuer: TokenVerifier
// sees only its Issuer side.
//
// No answer but that of sign-up reveals whether an e-mail address has an account: a wrong password and
// an unknown address get the same error after the same work, and are locked alike.
#pragma once

#include <functional>
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
#include "crypto/digest.h"
#include "crypto/service_cipher.h"
#include "identity/login_failure.h"
#include "identity/membership.h"
#include "identity/password_workers.h"
#include "identity/principal.h"
#include "identity/sessions.h"
#include "identity/sign_up_limit.h"
#include "identity/signing_keys.h"
#include "identity/token_verifier.h"
#include "net/client_address.h"
#include "net/key_budget.h"
#include "storage/commit/async_database.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::identity {

struct BuiltInIssuerOptions {
  std::string iss;  // the public base URL, without a slash at its end
  std::string audience = "presetbridge";
  Signup signup = Signup::open;
  std::int64_t signup_credits = 0;      // of a new account (spec 11.1)
  std::optional<SignUpLimits> signups;  // nothing: no limit
  // Called when a mail is due: a new address is to be confirmed. None: the service sends no mail.
  std::function<void()> mail_came = {};
};

inline constexpr std::size_t kMinPasswordCharacters = 10;
// Failed sign-ins are forgotten when the newest is this old.
inline constexpr Millis kFailuresForgottenAfter = std::chrono::hours{24};

// Checks the form alone, without a mail to the address: one '@' with something on both sides, no white space
// or controls, and 254 characters at most.
bool looks_like_email(std::string_view email);
// Trims the address and folds it to lower case.
std::string normalise_email(std::string_view text);
// The problem of a new password, as text that follows its name; nothing: it may be set.
std::optional<std::string> problem_of_password(std::string_view password);
// Sets the password of the person, whose row is locked, without the former one: unlocks, and ends all sessions.
void replace_password(storage::Tx& tx, const storage::UserRow& user, std::string_view hash);

// Thread-safe; tasks resume on `executor`. E-mail addresses are trimmed and folded to lower case.
class BuiltInIssuer final : public Issuer {
 public:
  // All outlive this.
  struct Deps {
    storage::AsyncDatabase& async_db;
    PasswordWorkers& passwords;
    const crypto::PasswordHasher& hasher;
    const crypto::ServiceCipher& cipher;
    IdSource& ids;
    Random& random;
    const Clock& clock;
    Log& log;
  };
  BuiltInIssuer(Deps deps, BuiltInIssuerOptions options);
  ~BuiltInIssuer() override;

  // Before the first use: reads the signing keys, makes the first one. RECORD_CORRUPT, UNKNOWN_SERVICE_KEY: a
  // stored key cannot be decrypted.
  Task<Expected<void>> start(Executor& executor);
  // SigningKeys::reload() and add().
  Task<Expected<int>> reload_keys(Executor& executor) { return keys_.reload(executor); }
  Task<Expected<bool>> add_key(Executor& executor) { return keys_.add(executor); }

  // VALIDATION_FAILED (e-mail, password), EMAIL_TAKEN, SIGNUP_CLOSED, RATE_LIMIT_EXCEEDED. `account_name`
  // empty: the e-mail's local part. With an `invitation`'s token the person joins that account
  // (join_account()), and the name is ignored. `caller`: the client whose attempts are counted (SignUpGate).
  // EMAIL_TAKEN, and LIMIT_REACHED (the account is full) and its like, cost an attempt, as they reveal who has an
  // account; a fault of ours (SignUpGate::failed()) and an invitation that is not valid cost none.
  Task<LoginResult<Tokens>> sign_up(Executor& executor, net::Caller caller, std::string email,
                                    std::string password, std::string account_name, Device device = {},
                                    std::string invitation = {});
  // The problems of the fields of a sign-up, at most one each; the database is not read.
  static std::vector<FieldProblem> problems_of_sign_up(std::string_view email, std::string_view password);
  // INVALID_CREDENTIALS, TOO_MANY_ATTEMPTS: from the fifth failure in a row on, the address is locked for 30
  // s, doubling up to 15 min. OVERLOADED, and RATE_LIMIT_EXCEEDED (the caller's network is at so many of them
  // already), cost no try. Nothing is written for what was not hashed. RATE_LIMIT_EXCEEDED also: the password
  // is right, and the person began too many sessions (Sessions::wait_to_begin()).
  Task<LoginResult<Tokens>> sign_in(Executor& executor, net::Caller caller, std::string email,
                                    std::string password, Device device = {});
  // Ends all sessions of the user and begins one of `device`. INVALID_CREDENTIALS (wrong current one; counts
  // as a failed sign-in), VALIDATION_FAILED, FORBIDDEN (the person is another issuer's),
  // RATE_LIMIT_EXCEEDED (as of sign_in()).
  Task<LoginResult<Tokens>> change_password(Executor& executor, net::Caller caller, Principal by,
                                            std::string current, std::string next, Device device = {});
  // Another e-mail address to sign in with. A link to confirm it is mailed, where the service sends mail. Sessions as
  // of change_password(), and its errors; VALIDATION_FAILED (it is the same), EMAIL_TAKEN. A change and
  // EMAIL_TAKEN cost one attempt of the person, who has ten, and one of the caller's network, which has twenty;
  // both come back evenly over an hour. Beyond them RATE_LIMIT_EXCEEDED.
  Task<LoginResult<Tokens>> change_email(Executor& executor, net::Caller caller, Principal by,
                                         std::string password, std::string email, Device device = {});
  // Step-up (spec 7.2): the browser's session goes on as one that has just signed in. INVALID_CREDENTIALS
  // (counts as a failed sign-in), TOO_MANY_ATTEMPTS, RATE_LIMIT_EXCEEDED (as of sign_in(); it counts as one),
  // UNAUTHORIZED (it has ended), FORBIDDEN (the person is another issuer's, or it is no session of a browser).
  Task<LoginResult<Tokens>> step_up(Executor& executor, net::Caller caller, Principal by,
                                    std::string password);
  // The operator's (`admin reset-password`), who is called `name`: NOT_FOUND, VALIDATION_FAILED. Unlocks, and
  // ends all sessions; of whose account.
  Task<Expected<AccountId>> reset_password(Executor& executor, std::string email, std::string next,
                                           std::string name = {});

  // A session that begins with a password or by a link in a mail; its tokens are made by Sessions::begin(). Throws
  // Error.
  Sessions::Opened open_session(storage::Tx& tx, const storage::UserRow& user, Device device) const;
  Sessions& sessions() { return sessions_; }
  SignUpGate& sign_ups() { return sign_ups_; }

  std::string discovery_document() const;
  std::string jwks() const { return keys_.jwks(); }  // after start()

  const std::string& iss() const override { return options_.iss; }
  const std::string& audience() const override { return options_.audience; }
  bool makes_sessions() const override { return true; }
  Task<Expected<Keys>> keys(Executor& executor) override { return keys_.keys(executor); }
  Task<Expected<Keys>> fresh_keys(Executor& executor) override { return keys_.fresh_keys(executor); }

 private:
  // In the transaction that gives the user this address.
  void mail_verification(storage::Tx& tx, const storage::UserRow& user) const;
  // Makes the account of a try that was counted.
  struct NewUser {
    std::string email;
    std::string password;
    std::string account_name;
    std::string invitation;  // empty: an account of their own
  };
  Task<LoginResult<Sessions::Opened>> make_account(Executor& executor, net::Caller caller, NewUser user,
                                                   Device device);
  // The names under which a failed attempt is counted: `name` (an e-mail address, or a signed-in person) for one
  // network and for all networks, or, without a network, `name` alone. Both are borrowed while the task runs.
  struct CountedFor {
    std::string_view name;
    std::optional<std::string_view> network;
  };
  // Verifies the password of `email`, and counts the failure, or forgets those before. `seat` outlives the task.
  Task<LoginResult<storage::UserRow>> verify_password(Executor& executor, const PasswordWorkers::Seat& seat,
                                                      std::string email, std::string password, Origin origin,
                                                      CountedFor counted_for);
  // The password of the person who asks, verified. FORBIDDEN: it is not kept here.
  Task<LoginResult<storage::UserRow>> verify_own_password(Executor& executor,
                                                          const PasswordWorkers::Seat& seat,
                                                          const Principal& by, std::string password,
                                                          Origin origin);
  const Deps deps_;
  const BuiltInIssuerOptions options_;
  const std::string unknown_hash_;  // what an unknown address's password is verified against
  SigningKeys keys_;
  Sessions sessions_;
  SignUpGate sign_ups_;
  net::KeyBudget email_changes_;  // of people
  net::KeyBudget email_changes_of_networks_;
};

}  // namespace presetbridge::identity
