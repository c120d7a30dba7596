// Errors as answers (spec 8.1): {"error":{"code","message","details"?}}. The one table of codes and statuses;
// a code that is not in it is answered as 500 INTERNAL_ERROR with a general sentence, so that no inner
// layer's text leaks.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "net/http.h"

namespace presetbridge::api {

// Nothing: the code is not one of the API.
std::optional<int> status_of(std::string_view code);

// 503 answers also carry Retry-After.
net::HttpResponse error_response(const Error& error);

// The errors that many handlers make.
Error unauthorized();  // 401
Error forbidden(std::string_view message);
Error not_found(std::string_view what);  // "There is no such <what>."

}  // namespace presetbridge::api
