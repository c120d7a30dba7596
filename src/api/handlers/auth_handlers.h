// Sign-in with the built-in issuer (spec 7.2): POST /api/auth/sign-up, sign-in, refresh, sign-out, password,
// email, step-up; and what an OpenID Connect client reads: /.well-known/openid-configuration,
// /.well-known/jwks.json. With "session": "cookie" the refresh token is a cookie (session_cookie.h) and in no
// body.
#pragma once

#include <vector>

#include "api/router.h"
#include "api/session_cookie.h"
#include "identity/built_in_issuer.h"
#include "net/ip_address.h"
#include "net/network_budget.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"

namespace presetbridge::api {

struct AuthDeps {
  identity::BuiltInIssuer& issuer;
  std::vector<net::IpNetwork> proxies;  // whose X-Forwarded-For is believed
  net::NetworkBudget& sign_ins;         // of those that fail
  net::NetworkBudget& requests;         // of refreshes and sign-outs whose token is not valid
  SessionCookie cookie;
  services::ApiKeys& keys;  // shown after a change of the password
  services::DisabledAccounts& disabled;
  bool passwords = true;  // whether people sign up and sign in by password
};
// Who asks for a session, as it is shown to them later.
identity::Device device_of(const net::HttpRequest& request, const std::vector<net::IpNetwork>& proxies,
                           bool browser);
// After a sign-in, for a person who proved who they are: of an account that is disabled the session ends at
// once, and the Error says why.
Task<Expected<void>> admit_signed_in(Executor& executor, services::DisabledAccounts& disabled,
                                     identity::Sessions& sessions, const identity::Tokens& tokens);
void add_auth_routes(Router& router, AuthDeps deps);

}  // namespace presetbridge::api
