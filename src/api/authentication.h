// Finds the sender of a request (spec 6.5, 7.3): `Authorization: Bearer <ID token>`, `x-api-key: <key>`, or
// both.
//   none, or an invalid one        401 UNAUTHORIZED
//   an inactive or expired key     403 FORBIDDEN
//   one of a disabled account      403 FORBIDDEN
//   both                           both must be valid and of one account; the request may do what both may
// A key's request counts against its hourly limit (spec 6.3), in the transaction that reads the key.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "api/call.h"
#include "base/error.h"
#include "base/task.h"
#include "domain/rate_window.h"
#include "identity/principal.h"
#include "identity/token_verifier.h"
#include "net/client_address.h"
#include "net/http.h"
#include "net/ip_address.h"
#include "services/accounts/accounts.h"
#include "services/accounts/api_keys.h"
#include "services/accounts/disabled_accounts.h"

namespace presetbridge::api {

struct Authenticated {
  identity::Principal principal;
  std::optional<domain::Admission> rate;  // of the key, for the answer's headers
};

struct Refused {
  Error error;
  std::optional<domain::Admission> rate;
  std::optional<Millis> retry_after = std::nullopt;  // of a RATE_LIMIT_EXCEEDED that is not a key's
};

class Authentication {
 public:
  // All outlive this. `proxies`: as of client_address().
  Authentication(identity::TokenVerifier& tokens, services::Accounts& accounts, services::ApiKeys& keys,
                 services::DisabledAccounts& disabled, std::vector<net::IpNetwork> proxies = {})
      : tokens_(tokens),
        accounts_(accounts),
        keys_(keys),
        disabled_(disabled),
        proxies_(std::move(proxies)) {}

  // `request` outlives the task.
  Task<std::expected<Authenticated, Refused>> authenticate(const net::HttpRequest& request);

 private:
  identity::TokenVerifier& tokens_;
  services::Accounts& accounts_;
  services::ApiKeys& keys_;
  services::DisabledAccounts& disabled_;
  const std::vector<net::IpNetwork> proxies_;
};

// RateLimit-Limit, -Remaining and -Reset (seconds, rounded up), and Retry-After on a refusal.
void add_rate_headers(net::HttpResponse& response, const domain::Admission& rate);

}  // namespace presetbridge::api
