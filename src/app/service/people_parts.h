// Accounts and their people, and how more of them join (spec 7.1, 7.2).
#pragma once

#include <functional>
#include <string>

#include "api/handlers/account_handlers.h"
#include "api/handlers/people_handlers.h"
#include "api/handlers/preferences_handlers.h"
#include "app/config/client_networks.h"
#include "app/config/config.h"
#include "app/config/external_issuers.h"
#include "identity/membership.h"
#include "net/network_budget.h"
#include "services/accounts/people.h"
#include "services/erasure/account_deletion.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

class PeopleParts {
 public:
  // All outlive this.
  struct Ports {
    const Config& config;
    storage::AsyncDatabase& async_db;
    IdSource& ids;
    Random& random;
    identity::TokenVerifier& tokens;
    services::Accounts& accounts;
    net::NetworkBudget& failures;
    services::Vault& vault;
    std::function<void()> job_came;  // for BulkWorker
  };
  explicit PeopleParts(Ports ports)
      : ports_(ports),
        people_({ports.async_db, ports.ids, ports.random, ports.tokens},
                *identity::parse_signup(ports.config.identity_signup), invitations_are_good(ports.config)),
        deletion_(ports.async_db, ports.ids, ports.vault, ports.job_came) {}

  void add_routes(api::Router& router, const std::string& base_url) {
    api::add_account_routes(router, {ports_.accounts});
    api::add_people_routes(router,
                           {people_, trusted_proxies(ports_.config), ports_.failures, deletion_, base_url});
    api::add_preferences_routes(router, {people_});
  }

 private:
  const Ports ports_;
  services::People people_;
  services::AccountDeletion deletion_;
};

}  // namespace presetbridge::app
