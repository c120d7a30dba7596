// Secrets that a resource has, and shows when they are made and never again.
#pragma once

#include <optional>
#include <string>

#include "api/call.h"
#include "api/json_body.h"
#include "base/time.h"

namespace presetbridge::api {

// `body` with the member `secret`, not to be kept by anything between here and the caller.
net::HttpResponse issued_response(int status, json::object body, const std::string& secret);

// {"secret"?, "overlapSeconds"?}
struct SecretRotation {
  std::optional<std::string> secret;  // nothing: one is made
  Millis overlap{};                   // how long the old one is good for beside it
};
struct OverlapRule {
  Millis usual;  // when none is asked for
  Millis most;
};
Expected<SecretRotation> read_secret_rotation(const net::HttpRequest& request, const TextRule& secret,
                                              const OverlapRule& overlap);

}  // namespace presetbridge::api
