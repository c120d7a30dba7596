// Sign-in with an issuer elsewhere, through the service (spec 7.2): authorization code with PKCE (RFC 7636),
// OpenID Connect. Its result is a session like any other (sessions.h), of the identity (iss, sub),
// which no e-mail address joins with another.
//
// An attempt is bound to the browser that began it: state, nonce and verifier lie sealed in a cookie of its
// own, and nothing is stored for strangers. It ends after 10 minutes, and its session has the attempt's id:
// the same attempt gives no second one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/task.h"
#include "crypto/secret.h"
#include "crypto/service_cipher.h"
#include "identity/login_failure.h"
#include "identity/membership.h"
#include "identity/remote_issuer.h"
#include "identity/sessions.h"
#include "identity/sign_up_limit.h"
#include "net/client_address.h"
#include "net/http_client.h"
#include "storage/commit/async_database.h"

namespace presetbridge::identity {

struct ExternalIssuerOptions {
  std::string id;    // in addresses: of [a-z0-9-]
  std::string name;  // as people know it
  std::string iss;   // as RemoteIssuerOptions
  std::string client_id;
  crypto::SecretString client_secret;  // empty: a public client, which PKCE alone vouches for
  Signup signup = Signup::closed;      // who may make an account through this issuer
};

// How long an attempt may take.
inline constexpr Millis kAttemptLifetime = std::chrono::minutes{10};

// Thread-safe; tasks resume on `executor`.
class ExternalSignIn {
 public:
  // All outlive this.
  struct Deps {
    storage::AsyncDatabase& async_db;
    Sessions& sessions;
    SignUpGate& sign_ups;
    net::HttpClient& http;
    const crypto::ServiceCipher& cipher;
    IdSource& ids;
    Random& random;
    const Clock& clock;
    Log& log;
    std::int64_t signup_credits = 0;  // for a new account (spec 11.1)
  };
  // `base_url`: the service's public address. No two issuers have one id.
  ExternalSignIn(Deps deps, std::string base_url, std::vector<ExternalIssuerOptions> issuers);
  ~ExternalSignIn();

  struct Named {
    std::string id;
    std::string name;
  };
  std::vector<Named> issuers() const;  // in the order of the settings
  // Where the issuer sends the browser back to; the client is registered with it.
  std::string callback_url(std::string_view id) const;

  struct Begun {
    std::string url;      // of the issuer's own page
    std::string attempt;  // sealed, of the base64url alphabet: the browser's cookie
  };
  // `return_to`: the path of a page of ours. `step_up`: the browser's session that is to be confirmed, by a
  // sign-in of the last 10 minutes. `invitation`: the token of one, by which somebody new joins its account.
  // NOT_FOUND: no such issuer; FORBIDDEN: the session is of another one's
  // person; ISSUER_UNAVAILABLE.
  Task<Expected<Begun>> begin(Executor& executor, std::string id, std::string return_to,
                              std::optional<storage::SessionRow> step_up, std::string invitation = {});

  // The parameters with which the issuer sent the browser back; each may be empty.
  struct Answer {
    std::string state;
    std::string code;
    std::string error;
    std::string iss;  // RFC 9207
  };
  struct Ended {
    std::optional<Tokens> tokens;  // nothing: the session that there was is confirmed
    std::string return_to;
  };
  // NOT_FOUND; SIGN_IN_STATE_INVALID: not begun in this browser, or used, or too old; SIGN_IN_DENIED: by the
  // person, or by the issuer; ISSUER_ANSWER_INVALID: what the issuer said is not true, or not whole;
  // ISSUER_UNAVAILABLE; SIGNUP_CLOSED: nobody new by this issuer; RATE_LIMIT_EXCEEDED: too many sign-ups,
  // or too many sessions that the person began or confirmed;
  // INVITATION_INVALID, ACCOUNT_DISABLED, ALREADY_MEMBER, LIMIT_REACHED: of the invitation;
  // SIGN_IN_OTHER_PERSON: it was another one who confirmed; UNAUTHORIZED: the session to confirm has ended.
  Task<LoginResult<Ended>> finish(Executor& executor, std::string id, std::string attempt, Answer answer,
                                  net::Caller caller, Device device);
  // The page that an attempt wanted to go to, and whether it is a step-up. A sign-in to "/" for what is none.
  struct Aim {
    std::string return_to = "/";
    bool step_up = false;
  };
  Aim aim_of(std::string_view attempt) const;

 private:
  struct Issuer;
  struct Attempt;

  Issuer* find(std::string_view id) const;
  std::optional<Attempt> open(std::string_view sealed) const;
  // The ID token that the issuer gives for the code, verified.
  Task<Expected<VerifiedToken>> redeem(Executor& executor, Issuer& issuer, const Attempt& attempt,
                                       std::string code);
  Task<LoginResult<Tokens>> sign_in(Executor& executor, const Issuer& issuer, const Attempt& attempt,
                                    VerifiedToken token, net::Caller caller, Device device);
  Task<LoginResult<Ended>> confirm(Executor& executor, Issuer& issuer, const Attempt& attempt,
                                   VerifiedToken token, Origin origin);

  const Deps deps_;
  const std::string base_url_;
  const std::vector<std::unique_ptr<Issuer>> issuers_;
};

}  // namespace presetbridge::identity
