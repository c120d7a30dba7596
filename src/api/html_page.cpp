#include "api/html_page.h"

#include <utility>

namespace presetbridge::api {

void add_page_headers(net::HttpResponse& response, std::string_view cache_control) {
  response.headers.add("Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  response.headers.add("Cache-Control", std::string(cache_control));
}

net::HttpResponse page_response(std::string content_type, std::string body, std::string_view cache_control) {
  net::HttpResponse response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  add_page_headers(response, cache_control);
  return response;
}

}  // namespace presetbridge::api
