// An OpenID Connect issuer elsewhere (spec 7.1): its discovery document and JWKS, over HTTP, cached.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "identity/token_verifier.h"
#include "net/http_client.h"

namespace presetbridge::identity {

struct RemoteIssuerOptions {
  std::string iss;  // https (http to loopback for tests); discovery at <iss>/.well-known/openid-configuration
  std::string audience;                        // the client id
  Millis max_age = std::chrono::hours{1};      // keys older than that are fetched again before use
  Millis cool_down = std::chrono::minutes{1};  // at least this between two fetches, failed ones included
  Millis deadline = std::chrono::seconds{10};  // of one HTTP call
};

// Where people sign in with an issuer (authorization code), as its discovery document says.
struct IssuerEndpoints {
  std::string authorization;
  std::string token;
  bool secret_in_body = false;   // client_secret_post; else client_secret_basic
  bool states_auth_time = true;  // false: it lists the claims that it makes, and `auth_time` is none of them
};

// Many callers wait for one fetch. While fetching fails, keys that are known go on being used for a day.
class RemoteIssuer final : public Issuer {
 public:
  // All outlive this, and this outlives its tasks.
  RemoteIssuer(RemoteIssuerOptions options, net::HttpClient& http, const Clock& clock, Log& log);
  ~RemoteIssuer() override;

  const std::string& iss() const override;
  const std::string& audience() const override;
  Task<Expected<Keys>> keys(Executor& executor) override;
  Task<Expected<Keys>> fresh_keys(Executor& executor) override;
  // ISSUER_UNAVAILABLE too where it names none, or none that is as safe as the issuer itself.
  Task<Expected<IssuerEndpoints>> endpoints(Executor& executor);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace presetbridge::identity
