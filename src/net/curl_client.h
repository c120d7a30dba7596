// HttpClient over libcurl's multi interface, on one core of the runtime (spec 10.5). A request is written to
// the wire at most once: libcurl's own silent repetition on a dead kept-alive connection is refused and
// reported as `lost`.
#pragma once

#include <memory>
#include <string>

#include "net/http_client.h"
#include "net/resolver.h"
#include "net/runtime.h"

namespace presetbridge::net {

class CurlEngine;

struct CurlClientOptions {
  int calls = 1'024;           // with a connection at one time; further ones wait, in turn by host
  int calls_per_host = 64;     // of these, to one host and port
  int waiting_calls = 20'000;  // more fail at once as `connect`
  int idle_connections = 256;  // kept alive, for each address policy; never more than `calls`
  std::string user_agent = "presetbridge";
  std::string ca_file;  // PEM; trusted instead of the system's authorities. Empty: the system's
};

// A deadline that passes before the connection stands is `unresolved` or `connect`. An answer whose header
// exceeds 64 KiB is `lost`. Content-Length and Transfer-Encoding among the headers of a request are
// `invalid`: framing is the client's.
class CurlClient final : public HttpClient {
 public:
  // `resolver` outlives the client.
  CurlClient(Runtime& runtime, int core, Resolver& resolver, CurlClientOptions options = {});
  // Stops if stop() was not called.
  ~CurlClient() override;

  Task<HttpResult> send(Executor& executor, OutgoingRequest request) override;

  // Ends every call, and every later one, as `aborted`. Not from a core of the runtime; before
  // Runtime::stop(), so that the callers still get their results.
  void stop();

 private:
  Runtime& runtime_;
  const int core_;
  const std::shared_ptr<CurlEngine> engine_;
};

}  // namespace presetbridge::net
