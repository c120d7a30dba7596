// HTTP as the rest of the program sees it: plain values, no Asio, no Beast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/task.h"

namespace presetbridge::net {

// Field names compare without the case of ASCII letters.
bool same_field_name(std::string_view a, std::string_view b);
// Whether it is a token (RFC 9110, 5.6.2), as methods and field names are.
bool is_token(std::string_view text);

// Header fields in the order received. Names compare without case.
class Headers {
 public:
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  // The first field of that name.
  std::optional<std::string_view> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  // How many fields of that name there are.
  std::size_t count(std::string_view name) const;
  // The values of all fields of that name, in the order received; valid as long as this is.
  std::vector<std::string_view> all(std::string_view name) const;
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
  std::string method;  // "GET", upper case as received
  std::string target;  // path and query as received
  std::string path;    // percent-decoded is nothing: segments are decoded by the router
  std::string query;   // without '?'
  Headers headers;
  std::string body;  // exactly the bytes received
  bool body_too_large =
      false;  // the body passed the limit: `body` is empty, the connection closes after the answer
  std::size_t body_limit = 0;  // bytes; set when the body passed it
  std::string remote_address;  // numeric, without port
  std::string id;  // X-Request-Id: the client's if it is 1 to 64 of [A-Za-z0-9._-], else made here
  Scheduler* executor = nullptr;  // of this connection: where the handler runs and must end
};

// A body that is made while it is sent, as long as it lasts: server-sent events. Used and destroyed on the
// connection's executor.
class BodyStream {
 public:
  enum class End {
    closed,   // the client is gone
    slow,     // the client did not take a chunk in time
    stopping  // the server stops
  };

  virtual ~BodyStream() = default;
  // The next chunk, not empty, as soon as there is one; nothing at the end of the body. Called again when the
  // chunk is on its way.
  virtual Task<std::optional<std::string>> next() = 0;
  // From now on next() gives nothing, soon and also where it waits. May be called again; only the first time
  // counts.
  virtual void end(End why) = 0;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string content_type = "application/json";
  std::string body;
  std::shared_ptr<BodyStream> stream;  // instead of `body`; the connection closes at its end
  bool drop_connection = false;        // close the connection without an answer (simulated faults)
};

// Answers requests. handle() is called on the thread of the connection, for many connections at once, and its
// task must end on `request.executor`; it must not throw: what leaves it becomes a 500 with an error body
// (spec 8.1).
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Task<HttpResponse> handle(HttpRequest request) = 0;
};

}  // namespace presetbridge::net
