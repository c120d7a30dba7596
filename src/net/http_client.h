// The port for outgoing HTTP, and the policies for the addresses that a call may reach (spec 10.5). Implemented over
// libcurl's multi interface in curl_client.h; faked in tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "base/time.h"

namespace presetbridge::net {

// Which addresses a call may reach, checked after DNS and again when the socket is opened.
enum class AddressPolicy {
  public_https,       // https only; no loopback, private, link-local, metadata, multicast, mapped or reserved
                      // range
  sandbox_receivers,  // public_https, and http or https to loopback (spec 10.5, sandbox mode)
  configured,         // any address: for hosts that the operator's own configuration names (cloud platform,
                      // payments)
};

struct OutgoingRequest {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // no CR, LF or NUL: refused as `invalid`
  std::string body;
  AddressPolicy policy = AddressPolicy::public_https;
  Millis deadline{15'000};                // for everything: DNS, connect, TLS, the answer's body
  std::size_t max_answer_bytes = 16'384;  // read no more of the answer's body than this
  std::string owner;  // any key of the account that chose the host (see Resolver); empty: the service itself
};

struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;                                          // the first max_answer_bytes
  bool truncated = false;
};

struct HttpFailure {
  enum class Kind {
    invalid,     // not a request that can be sent: bad URL, scheme, header
    denied,      // the address guard refused the URL's host or all its addresses; a retry cannot help
    unresolved,  // DNS gave nothing in time
    connect,     // no connection: nothing of the request can have had an effect
    tls,         // the peer's certificate or handshake was refused: no effect
    timeout,     // the deadline passed after the connection stood: the effect is unknown
    lost,        // the connection broke before a whole answer: the effect is unknown
    aborted,     // this side shut down: the effect is unknown
  };
  Kind kind;
  std::string message;  // for a person; holds no header or body of the request
  bool effect_unknown() const { return kind == Kind::timeout || kind == Kind::lost || kind == Kind::aborted; }
};

struct HttpResult {
  std::variant<HttpAnswer, HttpFailure> outcome;
  Millis duration{0};
  const HttpAnswer* answer() const { return std::get_if<HttpAnswer>(&outcome); }
  const HttpFailure* failure() const { return std::get_if<HttpFailure>(&outcome); }
};

// Redirects are never followed; proxies of the environment are never used. Thread-safe. Every send()
// completes, at the latest at its deadline or at shutdown (as `aborted`).
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // The task resumes on `executor`.
  virtual Task<HttpResult> send(Executor& executor, OutgoingRequest request) = 0;
};

}  // namespace presetbridge::net
