// How people sign in over HTTP (spec 7.2): by password, with an issuer elsewhere, their sessions, and what a
// sign-in page has to know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/handlers/auth_handlers.h"
#include "api/router.h"
#include "app/config/config.h"
#include "identity/built_in_issuer.h"
#include "identity/external_sign_in.h"
#include "net/network_budget.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"

namespace presetbridge::app {

class SignInParts {
 public:
  // All outlive this.
  struct Ports {
    const Config& config;
    identity::BuiltInIssuer& issuer;
    services::ApiKeys& keys;
    services::DisabledAccounts& disabled;
    net::NetworkBudget& failed_sign_ins;
    net::NetworkBudget& failed_requests;
    storage::AsyncDatabase& async_db;
    net::HttpClient& http;
    const crypto::ServiceCipher& cipher;
    IdSource& ids;
    Random& random;
    const Clock& clock;
    Log& log;
  };
  SignInParts(Ports ports, std::vector<identity::ExternalIssuerOptions> issuers,
              std::optional<api::MailDeps> mail)
      : ports_(ports), issuers_(std::move(issuers)), mail_(mail) {}

  // Once, with the service's public address. This outlives the router.
  void add_routes(api::Router& router, const std::string& base_url);

 private:
  const Ports ports_;
  std::vector<identity::ExternalIssuerOptions> issuers_;
  const std::optional<api::MailDeps> mail_;
  std::optional<identity::ExternalSignIn> external_;
};

}  // namespace presetbridge::app
