// Private to net/: what goes onto the wire for an HttpResponse. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace presetbridge::net {

struct ResponseFraming {
  std::string_view request_id = {};
  std::string_view date = {};  // as HTTP writes it
  bool head = false;           // answers HEAD: the body's length is sent, the body is not
  bool keep_alive = true;      // else `Connection: close`
  bool http10 = false;         // a keep-alive needs a header, and there are no chunks
};

// The status line and header. A stream is chunked, but for HTTP/1.0, where the connection's end is its own;
// either way `keep_alive` is false. The framing, Date, Connection and X-Request-Id are the server's: fields
// of these names in `response` are left out. Nothing if a field's name or value cannot be sent (it would
// split the answer).
std::optional<std::string> header_text(const HttpResponse& response, const ResponseFraming& framing);

// Does an answer of this status have a body at all?
bool status_has_body(int status);

// `{"error":{"code","message"}}` (spec 8.1). Neither argument needs escaping.
HttpResponse error_response(int status, std::string_view code, std::string_view message);

}  // namespace presetbridge::net
