// Sign-in with an issuer elsewhere (spec 7.2), as the browser goes there and comes back:
//   GET /api/auth/external/{issuer}?returnTo=&stepUp=   to the issuer's page; with stepUp to confirm the
//                                                       browser's session there
//   GET /api/auth/external/{issuer}/callback            back: a session, and on to the page of returnTo
// And what a sign-in page has to know: GET /api/auth/config. A failure is a page with its code, as a person
// is there to read it.
#pragma once

#include <string>
#include <vector>

#include "api/router.h"
#include "api/session_cookie.h"
#include "identity/external_sign_in.h"
#include "identity/sessions.h"
#include "net/ip_address.h"
#include "net/network_budget.h"
#include "services/accounts/disabled_accounts.h"

namespace presetbridge::api {

struct ExternalDeps {
  identity::ExternalSignIn& external;
  identity::Sessions& sessions;
  std::vector<net::IpNetwork> proxies;  // whose X-Forwarded-For is believed
  net::NetworkBudget& sign_ins;         // of those that fail
  SessionCookie cookie;
  services::DisabledAccounts& disabled;
};
void add_external_routes(Router& router, ExternalDeps deps);

// The public configuration of sign-in. An empty text: there is none.
struct SignInConfig {
  std::string signup;     // identity.signup
  bool passwords = true;  // identity.passwords
  bool mail = false;      // whether the service sends mail
  bool sandbox = false;
  std::string base_url;
  std::string cloud_name;
  std::string cloud_friend_requests_url;
  std::string cloud_app_url;
  std::string support_url;
  std::vector<identity::ExternalSignIn::Named> issuers;
};
void add_auth_config_route(Router& router, SignInConfig config);

}  // namespace presetbridge::api
