// What the service reaches over the network, answered inside this process: the simulators, receivers of
// outbound webhooks, and the credential agent.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "cloud/agent_client.h"
#include "cloud/http_cloud.h"
#include "crypto/vault_keys.h"
#include "net/http.h"
#include "net/http_client.h"

namespace presetbridge::demo {

// Sends every request to `handler`, whatever host its URL names.
class InProcess final : public net::HttpClient {
 public:
  // What a call is answered instead: nothing, where it goes on to the handler.
  using Instead = std::function<std::optional<net::HttpResult>(const net::OutgoingRequest&)>;
  // Both outlive this.
  InProcess(Scheduler& scheduler, net::HttpHandler& handler) : scheduler_(scheduler), handler_(&handler) {}

  Instead instead;
  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override;

 private:
  Scheduler& scheduler_;
  net::HttpHandler* const handler_;
};

// Receivers: each URL is answered 200 until it is told otherwise.
class Receivers final : public net::HttpClient {
 public:
  struct Answer {
    int status = 200;
    std::string content_type = "text/plain";
    std::string body = "ok";
    Millis duration{42};
    bool lost = false;  // it does not answer in time
  };
  std::map<std::string, Answer> answers;

  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override;
};

// Opens stored logins as the credential agent's process does, and logs in at the platform of `http`.
class PastAgent final : public cloud::CredentialAgent {
 public:
  // All but `options` and `keys` outlive this.
  PastAgent(net::HttpClient& http, const Clock& clock, cloud::HttpCloudOptions options,
            crypto::VaultKeyring keys)
      : cloud_(http, clock, std::move(options)), keys_(std::move(keys)) {}

  Millis login_deadline() const override { return Millis{20'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                                 crypto::Bytes sealed) override;
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor& executor, std::string email,
                                                      crypto::SecretString password) override;

 private:
  cloud::HttpCloud cloud_;
  const crypto::VaultKeyring keys_;
};

}  // namespace presetbridge::demo
