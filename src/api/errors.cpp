#include "api/errors.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ranges>
#include <string>
#include <utility>

namespace presetbridge::api {
namespace {

namespace json = boost::json;

struct CodeStatus {
  std::string_view code;
  int status;
};

constexpr std::array kStatuses = {
    CodeStatus{"INVALID_PAYLOAD", 400},  // webhooks (spec 2.12)
    CodeStatus{"SIGN_IN_STATE_INVALID", 400},
    CodeStatus{"UNAUTHORIZED", 401},
    CodeStatus{"INVALID_CREDENTIALS", 401},
    CodeStatus{"INVALID_SIGNATURE", 401},
    CodeStatus{"FORBIDDEN", 403},
    CodeStatus{"SIGNUP_CLOSED", 403},
    CodeStatus{"ACCOUNT_DISABLED", 403},
    CodeStatus{"STEP_UP_REQUIRED", 403},
    CodeStatus{"PASSWORDS_OFF", 403},
    CodeStatus{"SIGN_IN_DENIED", 403},
    CodeStatus{"SIGN_IN_OTHER_PERSON", 403},
    CodeStatus{"CROSS_SITE_REQUEST", 403},
    CodeStatus{"INSECURE_ADDRESS", 403},
    CodeStatus{"NOT_FOUND", 404},
    CodeStatus{"INTEGRATION_NOT_FOUND", 404},
    CodeStatus{"INVITATION_INVALID", 404},
    CodeStatus{"LINK_INVALID", 404},
    CodeStatus{"METHOD_NOT_ALLOWED", 405},
    CodeStatus{"CONFLICT", 409},
    CodeStatus{"EMAIL_TAKEN", 409},
    CodeStatus{"ALREADY_MEMBER", 409},
    CodeStatus{"LAST_OWNER", 409},
    CodeStatus{"INVALID_TRANSITION", 409},
    CodeStatus{"LIMIT_REACHED", 409},
    CodeStatus{"CREDENTIALS_MISSING", 409},
    CodeStatus{"PAYMENTS_OFF", 409},
    CodeStatus{"MAIL_OFF", 409},
    CodeStatus{"PAYLOAD_TOO_LARGE", 413},
    CodeStatus{"UNSUPPORTED_MEDIA_TYPE", 415},
    CodeStatus{"VALIDATION_FAILED", 422},
    CodeStatus{"RATE_LIMIT_EXCEEDED", 429},
    CodeStatus{"TOO_MANY_ATTEMPTS", 429},
    CodeStatus{"INTERNAL_ERROR", 500},
    CodeStatus{"CLOUD_UNAVAILABLE", 502},
    CodeStatus{"ISSUER_ANSWER_INVALID", 502},
    CodeStatus{"PAYMENTS_UNAVAILABLE", 502},
    CodeStatus{"OVERLOADED", 503},
    CodeStatus{"STORAGE_UNAVAILABLE", 503},
    CodeStatus{"ISSUER_UNAVAILABLE", 503},
    CodeStatus{"WORKER_UNAVAILABLE", 503},
};

constexpr int kInternalError = 500;

}  // namespace

std::optional<int> status_of(std::string_view code) {
  const auto* found = std::ranges::find(kStatuses, code, &CodeStatus::code);
  if (found == kStatuses.end()) return std::nullopt;
  return found->status;
}

bool is_fault(const Error& error) {
  return status_of(error.code).value_or(kInternalError) == kInternalError ||
         error.code == "STORAGE_UNAVAILABLE";
}

net::HttpResponse error_response(const Error& error, std::optional<std::size_t> attempts_left) {
  const auto status = status_of(error.code).value_or(kInternalError);
  json::object body{{"code", error.code}, {"message", error.message}};
  if (status == kInternalError) {
    body = {{"code", "INTERNAL_ERROR"},
            {"message", "Something went wrong here. It is logged with this request's id."}};
  }
  if (status != kInternalError && !error.details.empty()) {
    json::array details;
    for (const auto& [field, problem] : error.details | std::views::take(kMostDetails)) {
      details.push_back(json::object{{"field", field}, {"problem", problem}});
    }
    body["details"] = std::move(details);
  }
  if (attempts_left) body["attemptsLeft"] = *attempts_left;
  net::HttpResponse response;
  response.status = status;
  response.body = json::serialize(json::object{{"error", std::move(body)}});
  if (status == 503) response.headers.add("Retry-After", "1");
  return response;
}

Error invalid_query(std::vector<FieldProblem> problems) {
  return {"VALIDATION_FAILED", "The query has parameters that are not valid.", std::move(problems)};
}

Error invalid_fields(std::vector<FieldProblem> problems) {
  return {"VALIDATION_FAILED", "The request has fields that are not valid.", std::move(problems)};
}

Error unauthorized() {
  return {"UNAUTHORIZED", "A valid ID token (Authorization: Bearer) or API key (x-api-key) is needed.", {}};
}

Error forbidden(std::string_view message) {
  return {"FORBIDDEN", std::string(message), {}};
}

Error payload_too_large(const net::HttpRequest& request) {
  return {"PAYLOAD_TOO_LARGE",
          "The body is too large: at most " + std::to_string(request.body_limit) + " bytes are taken.",
          {}};
}

Error not_found(std::string_view what) {
  return {"NOT_FOUND", "There is no such " + std::string(what) + ".", {}};
}

}  // namespace presetbridge::api
