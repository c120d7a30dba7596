#include "api/issued_secret.h"

#include <chrono>
#include <utility>

namespace presetbridge::api {
namespace {

std::int64_t seconds_of(Millis duration) {
  return duration.count() / 1000;
}

}  // namespace

net::HttpResponse issued_response(int status, json::object body, const std::string& secret) {
  body["secret"] = secret;
  auto response = json_response(status, body);
  response.headers.add("Cache-Control", "no-store");
  return response;
}

Expected<SecretRotation> read_secret_rotation(const net::HttpRequest& request, const TextRule& secret,
                                              const OverlapRule& overlap) {
  auto body = JsonBody::parse_optional(request);
  if (!body) return std::unexpected(body.error());
  SecretRotation rotation;
  rotation.secret = (*body)->optional_text("secret", secret);
  const auto seconds = (*body)->optional_integer("overlapSeconds", 0, seconds_of(overlap.most));
  rotation.overlap = std::chrono::seconds{seconds.value_or(seconds_of(overlap.usual))};
  if (auto error = body->problems()) return std::unexpected(*error);
  return rotation;
}

}  // namespace presetbridge::api
