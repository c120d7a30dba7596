#include "api/cloud_login_body.h"

#include "api/json_body.h"

namespace presetbridge::api {

Expected<CloudLoginBody> read_cloud_login(net::HttpRequest& request, std::string_view member) {
  auto body = JsonBody::parse(request);
  crypto::wipe(request.body);
  if (!body) return std::unexpected(body.error());
  auto fields = member.empty() ? **body : (*body)->object(member);
  CloudLoginBody login;
  login.email = fields.text("email", {.max = 254});
  auto password = fields.text("password", {.max = 256, .exact = true});
  login.password = crypto::SecretString(password);
  crypto::wipe(password);
  body->wipe();
  if (auto error = body->problems()) return std::unexpected(*error);
  return login;
}

}  // namespace presetbridge::api
