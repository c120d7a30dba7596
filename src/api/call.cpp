#include "api/call.h"

#include <stdexcept>
#include <string>

namespace presetbridge::api {

const std::string& Call::param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  throw std::logic_error("the route's pattern has no parameter of this name: " + std::string(name));
}

std::optional<std::string_view> Call::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

net::HttpResponse json_response(int status, const json::value& body) {
  net::HttpResponse response;
  response.status = status;
  response.body = json::serialize(body);
  return response;
}

net::HttpResponse no_content() {
  net::HttpResponse response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

Reply login_failed(const identity::LoginFailure& failure) {
  if (!failure.retry_after && !failure.attempts_left) return std::unexpected<Error>(failure);
  auto response = error_response(failure, failure.attempts_left);
  if (!failure.retry_after) return response;
  response.headers.add("Retry-After", std::to_string((failure.retry_after->count() + 999) / 1'000));
  return response;
}

Reply too_often(Millis wait) {
  return login_failed(identity::rate_limit_exceeded(wait));
}

Millis take(net::KeyBudget& budget, const Call& call) {
  auto key = to_string(call.principal.account);
  const auto wait = budget.wait(key);
  if (wait == Millis{0}) budget.count(std::move(key));
  return wait;
}

}  // namespace presetbridge::api
