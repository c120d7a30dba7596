#include "api/cloud_login_body.h"

#include <algorithm>

#include "api/errors.h"
#include "api/json_body.h"

namespace presetbridge::api {

Expected<CloudLoginBody> read_cloud_login(net::HttpRequest& request, std::string_view member) {
  auto body = JsonBody::parse(request);
  crypto::wipe(request.body);
  if (!body) return std::unexpected(body.error());
  auto fields = member.empty() ? **body : (*body)->object(member);
  CloudLoginBody login;
  login.email = fields.text("email", {.min = 3, .max = 254});
  auto password = fields.text("password", {.max = 1'024, .exact = true});
  login.password = crypto::SecretString(password);
  crypto::wipe(password);
  body->wipe();
  if (auto error = body->problems()) return std::unexpected(*error);
  return login;
}

net::HttpResponse login_failure_response(const services::LoginFailure& failure) {
  auto response = error_response(failure.error);
  if (failure.retry_after) {
    const auto seconds = std::max<std::int64_t>(1, (failure.retry_after->count() + 999) / 1'000);
    response.headers.add("Retry-After", std::to_string(seconds));
  }
  return response;
}

}  // namespace presetbridge::api
