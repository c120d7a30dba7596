// The embedded issuer (spec 7.2): people with e-mail and password, ID tokens (ES256, one hour), refresh
// tokens that change at every use. It is verified like any other issuer: TokenVerifier sees only its Issuer
// side.
//
// Nothing that it answers tells whether an e-mail address has an account, sign-up aside: a wrong password and
// an unknown address get the same error after the same work, and are locked alike.
#pragma once

#include <memory>
#include <mutex>
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
#include "crypto/jws.h"
#include "crypto/opaque_token.h"
#include "crypto/service_cipher.h"
#include "identity/login_failure.h"
#include "identity/membership.h"
#include "identity/password_workers.h"
#include "identity/principal.h"
#include "identity/sign_up_limit.h"
#include "identity/token_verifier.h"
#include "net/client_address.h"
#include "storage/group_commit.h"
#include "storage/identity_store.h"

namespace presetbridge::identity {

struct BuiltInIssuerOptions {
  std::string iss;  // the public base URL, without a slash at its end
  std::string audience = "presetbridge";
  Signup signup = Signup::open;
  std::optional<SignUpLimits> signups;  // nothing: no limit
  Millis token_lifetime = std::chrono::hours{1};
  Millis refresh_lifetime = std::chrono::hours{24 * 30};
};

inline constexpr std::string_view kRefreshTokenPrefix = "pdb_refresh_";
inline constexpr std::size_t kMinPasswordCharacters = 10;
// Failed tries to sign in are worth nothing any more when the newest is this old.
inline constexpr Millis kFailuresForgottenAfter = std::chrono::hours{24};

// What a sign-in gives.
struct Tokens {
  std::string id_token;
  Timestamp id_token_expires_at;
  std::string refresh_token;
  Timestamp refresh_token_expires_at;
  UserId user;
  AccountId account;
  std::string email;
};

// Thread-safe; tasks resume on `executor`. E-mail addresses are trimmed and folded to lower case.
class BuiltInIssuer final : public Issuer {
 public:
  // All outlive this.
  struct Deps {
    storage::GroupCommit& commits;
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

  // VALIDATION_FAILED (e-mail, password), EMAIL_TAKEN, SIGNUP_CLOSED, RATE_LIMIT_EXCEEDED. `account_name`
  // empty: the e-mail's local part. `caller`: whose tries are counted (SignUpLimit). EMAIL_TAKEN costs a try,
  // as it tells who has an account; what fails by our fault (OVERLOADED) costs none.
  Task<LoginResult<Tokens>> sign_up(Executor& executor, net::Caller caller, std::string email,
                                    std::string password, std::string account_name);
  // What is wrong with the fields of a sign-up, of each at most one problem; the database is not asked.
  static std::vector<FieldProblem> problems_of_sign_up(std::string_view email, std::string_view password);
  // INVALID_CREDENTIALS, TOO_MANY_ATTEMPTS: from the fifth failure in a row on, the address is locked for 30
  // s, doubling up to 15 min. OVERLOADED, and RATE_LIMIT_EXCEEDED (the caller's network is at so many of them
  // already), cost no try. Nothing is written for what was not hashed.
  Task<LoginResult<Tokens>> sign_in(Executor& executor, net::Caller caller, std::string email,
                                    std::string password);
  // UNAUTHORIZED. A token that was used before revokes all that descend from the same sign-in: one of its two
  // holders is a thief.
  Task<Expected<Tokens>> refresh(Executor& executor, std::string refresh_token);
  // Revokes the sign-in that the token belongs to. False: the token is not known, which is no error.
  Task<Expected<bool>> sign_out(Executor& executor, std::string refresh_token);
  // Revokes all refresh tokens of the user and gives new ones. INVALID_CREDENTIALS (wrong current one; counts
  // as a failed sign-in), VALIDATION_FAILED, FORBIDDEN (the person is another issuer's).
  Task<LoginResult<Tokens>> change_password(Executor& executor, net::Caller caller, Principal by,
                                            std::string current, std::string next);
  // The operator's (`admin reset-password`): NOT_FOUND, VALIDATION_FAILED. Unlocks, and revokes all refresh
  // tokens.
  Task<Expected<void>> reset_password(Executor& executor, std::string email, std::string next);

  std::string discovery_document() const;
  std::string jwks() const;  // after start()

  const std::string& iss() const override { return options_.iss; }
  const std::string& audience() const override { return options_.audience; }
  Task<Expected<Keys>> keys(Executor& executor) override;
  // Another node may have made a key: reads the table again, at most once in 10 s.
  Task<Expected<Keys>> fresh_keys(Executor& executor) override;

 private:
  struct Ring;  // the keys as read: the newest signs, all verify
  struct Session;

  std::shared_ptr<const Ring> ring() const;
  Task<Expected<std::shared_ptr<const Ring>>> load(Executor& executor);
  // Makes the account of a try that was counted.
  Task<LoginResult<Session>> make_account(Executor& executor, net::Caller caller, std::string email,
                                          std::string password, std::string account_name);
  // Verifies the password, and counts the failure against `email` or forgets those before. `seat` outlives
  // the task.
  Task<LoginResult<storage::UserRow>> verify_password(Executor& executor, const PasswordWorkers::Seat& seat,
                                                      std::string email, std::string password);
  Session open_session(storage::Tx& tx, const storage::UserRow& user, std::int64_t family) const;
  Expected<Tokens> tokens(Session session) const;

  const Deps deps_;
  const BuiltInIssuerOptions options_;
  const std::string unknown_hash_;  // what an unknown address's password is verified against
  mutable std::mutex mutex_;
  std::shared_ptr<const Ring> ring_;
  std::optional<Timestamp> loaded_at_;
  std::optional<SignUpLimit> signups_;
};

}  // namespace presetbridge::identity
