// Errors as answers (spec 8.1): {"error":{"code","message","details"?}}. The one table of codes and statuses;
// a code that is not in it is answered as 500 INTERNAL_ERROR, so that no inner layer's text leaks.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/http.h"

namespace presetbridge::api {

// The HTTP status of an error with this code. Nothing: the code is not one of the API.
std::optional<int> status_of(std::string_view code);

// Whether the error is the service's own fault, so that it is logged: every error that is answered as 500, and
// STORAGE_UNAVAILABLE. Errors by which the caller is to come back (OVERLOADED, CLOUD_UNAVAILABLE) are not.
bool is_fault(const Error& error);

// The most details that one error returns.
inline constexpr std::size_t kMostDetails = 100;

// The answer for an error. A 503 has Retry-After: 1 (seconds). The message of a 500 is a general sentence, and
// the error's own message and details are left out. `attempts_left`: after a refused login, how many attempts
// remain.
net::HttpResponse error_response(const Error& error, std::optional<std::size_t> attempts_left = {});

// The errors that many handlers make.
Error invalid_query(std::vector<FieldProblem> problems);   // 422
Error invalid_fields(std::vector<FieldProblem> problems);  // 422, of a body
Error unauthorized();                                      // 401
Error forbidden(std::string_view message);                 // 403
// 413: the request's body passed its limit, which the message names.
Error payload_too_large(const net::HttpRequest& request);
Error not_found(std::string_view what);  // 404: "There is no such <what>."

}  // namespace presetbridge::api
