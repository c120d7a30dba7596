// Sign-in with the built-in issuer (spec 7.2): POST /api/auth/sign-up, sign-in, refresh, sign-out,
// password, email, step-up; with links in mails: password-reset, password-reset/confirm, verification, verify; and
// the documents for OpenID Connect clients: /.well-known/openid-configuration and /.well-known/jwks.json.
// With "session": "cookie" the refresh token is sent in a cookie (session_cookie.h) and in no body.
#pragma once

#include <optional>
#include <vector>

#include "api/router.h"
#include "api/session_cookie.h"
#include "identity/built_in_issuer.h"
#include "identity/email_proofs.h"
#include "net/ip_address.h"
#include "net/network_budget.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"
#include "services/mail/mail_tokens.h"

namespace presetbridge::api {

struct MailDeps {
  identity::EmailProofs& proofs;
  services::MailTokens& tokens;
};
struct AuthDeps {
  identity::BuiltInIssuer& issuer;
  std::vector<net::IpNetwork> proxies;  // whose X-Forwarded-For is believed
  net::NetworkBudget& sign_ins;         // of sign-ins with a wrong password
  net::NetworkBudget& requests;         // of those whose token, key, invitation or link is not valid
  SessionCookie cookie;
  services::ApiKeys& keys;  // listed in the answer to a change of password or e-mail address
  services::DisabledAccounts& disabled;
  bool passwords = true;                        // whether people sign up and sign in by password
  std::optional<MailDeps> mail = std::nullopt;  // nothing: the service sends no mail
};
// The device that sent the request, as its user sees it later in the list of sessions.
identity::Device device_of(const net::HttpRequest& request, const std::vector<net::IpNetwork>& proxies,
                           bool browser);
// Called after a successful sign-in. If the account is disabled, ends the new session; the Error says why.
Task<Expected<void>> admit_signed_in(Executor& executor, services::DisabledAccounts& disabled,
                                     identity::Sessions& sessions, const identity::Tokens& tokens);
void add_auth_routes(Router& router, AuthDeps deps);

}  // namespace presetbridge::api
