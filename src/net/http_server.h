// The HTTP/1.1 server: hands requests to an HttpHandler and writes its answers. Requests that it refuses
// itself (malformed, too slow, too many connections) get the error body of spec 8.1. Every answer carries
// X-Request-Id.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "net/http.h"
#include "net/ip_address.h"
#include "net/runtime.h"

namespace presetbridge::net {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any free one, see port()
  std::size_t header_bytes = 16 * 1024;
  std::size_t header_fields = 100;
  std::size_t body_bytes = 1024 * 1024;  // longer: HttpRequest::body_too_large
  Millis header_deadline{10'000};        // from the first byte of a request to the end of its header
  Millis body_deadline{30'000};          // from the end of the header to the end of the body
  Millis idle_deadline{60'000};   // from the end of an answer (or the connect) to the first byte of a request
  Millis write_deadline{30'000};  // for one answer
  // For one chunk of a streamed answer, and the system's buffer of chunks that the client has not received.
  Millis stream_write_deadline{15'000};
  int stream_buffer_bytes = 64 * 1024;
  // Beyond this number the longest idle connection is closed for a new one; beyond the limit of the new one's
  // network, the longest idle one of that network. Without an idle one the new one is answered 503 and
  // closed.
  int connections = 10'000;
  int connections_per_network = 0;         // one IPv4 address, a /64 of IPv6; 0: no such limit
  std::vector<IpNetwork> shared_networks;  // of peers that forward for others: limited by `connections` alone
};

// One acceptor deals connections round robin to the cores of the runtime; a connection stays on its core.
// Without a free file descriptor the longest idle connection is closed too; else the acceptor retries ten
// times a second. Requests of one connection are answered one after the other.
class HttpServer {
 public:
  // `handler`, `random` and `log` outlive the runtime's threads.
  HttpServer(Runtime& runtime, HttpHandler& handler, Random& random, Log& log, HttpServerOptions options);
  // Stops at once if stop() was not called.
  ~HttpServer();

  // Binds and accepts from now on. LISTEN_FAILED: the address is not numeric, taken, or not ours.
  Expected<void> listen();
  // After listen().
  std::uint16_t port() const;

  // Drains: accepts no more, closes idle connections, ends streams, lets running requests end with
  // `Connection: close`, and waits for that at most `drain`; then closes what is left. Not from a core of the
  // runtime; before Runtime::stop(). Repeated calls do nothing. A handler that is still running then keeps
  // running; its answer goes nowhere.
  void stop(Millis drain);

  // Open connections, at this moment. Thread-safe.
  int connections() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace presetbridge::net
