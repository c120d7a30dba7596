// Secrets of resources. An answer shows a secret once, when it is made.
#pragma once

#include <optional>
#include <string>

#include "api/call.h"
#include "api/json_body.h"
#include "base/time.h"

namespace presetbridge::api {

// `body` with the member `secret`. Nothing between the service and the caller may store the answer.
net::HttpResponse issued_response(int status, json::object body, const std::string& secret);

// {"secret"?, "overlapSeconds"?}
struct SecretRotation {
  std::optional<std::string> secret;  // nothing: the service makes one
  Millis overlap{};                   // how long the old secret stays valid beside the new one
};
struct OverlapRule {
  Millis usual;  // if the body names no overlap
  Millis most;
};
Expected<SecretRotation> read_secret_rotation(const net::HttpRequest& request, const TextRule& secret,
                                              const OverlapRule& overlap);

}  // namespace presetbridge::api
