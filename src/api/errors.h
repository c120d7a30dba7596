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

// Nothing: the code is not one of the API.
std::optional<int> status_of(std::string_view code);

// Whether an answer of this error is the service's own fault, so that it is logged: 500s, and storage that
// fails. Errors that wait for others or ask to come back (OVERLOADED, CLOUD_UNAVAILABLE) are not.
bool is_fault(const Error& error);

// The most details that one error returns.
inline constexpr std::size_t kMostDetails = 100;

// 503 answers also carry Retry-After. The message of a 500 is a general sentence, whatever the error's own
// is. `attempts_left`: of a login that was refused.
net::HttpResponse error_response(const Error& error, std::optional<std::size_t> attempts_left = {});

// The errors that many handlers make.
Error invalid_query(std::vector<FieldProblem> problems);   // 422
Error invalid_fields(std::vector<FieldProblem> problems);  // 422, of a body
Error unauthorized();                                      // 401
Error forbidden(std::string_view message);
// 413: the request's body passed its limit, which the message names.
Error payload_too_large(const net::HttpRequest& request);
Error not_found(std::string_view what);  // "There is no such <what>."

}  // namespace presetbridge::api
