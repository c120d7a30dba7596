// Sign-in with the built-in issuer (spec 7.2): POST /api/auth/sign-up, sign-in, refresh, sign-out, password;
// and what an OpenID Connect client reads: /.well-known/openid-configuration, /.well-known/jwks.json.
#pragma once

#include <vector>

#include "api/router.h"
#include "identity/built_in_issuer.h"
#include "net/ip_address.h"
#include "net/network_budget.h"

namespace presetbridge::api {

struct AuthDeps {
  identity::BuiltInIssuer& issuer;
  std::vector<net::IpNetwork> proxies;  // whose X-Forwarded-For is believed
  net::NetworkBudget& sign_ins;         // of those that fail
  net::NetworkBudget& requests;         // of refreshes and sign-outs whose token is not valid
};
void add_auth_routes(Router& router, AuthDeps deps);

}  // namespace presetbridge::api
