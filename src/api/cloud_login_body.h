// A cloud login in a request's body (spec 4.3, 5.1): read into guarded memory; the texts it passed through
// are wiped.
#pragma once

#include <string>

#include "base/error.h"
#include "crypto/secret.h"
#include "net/http.h"

namespace presetbridge::api {

struct CloudLoginBody {
  std::string email;
  crypto::SecretString password;
};
// {"email","password"}, or the same inside `member` if that is not empty. Wipes `request.body`, also when it
// fails.
Expected<CloudLoginBody> read_cloud_login(net::HttpRequest& request, std::string_view member);

}  // namespace presetbridge::api
