#include "api/call.h"

#include <stdexcept>

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

}  // namespace presetbridge::api
