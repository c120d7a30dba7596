// Pages for people that are whole in the program: nothing in them is of another origin, and none runs a
// script.
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

namespace presetbridge::api {

// With what keeps a browser from doing more with it than showing it.
void add_page_headers(net::HttpResponse& response, std::string_view cache_control);
net::HttpResponse page_response(std::string content_type, std::string body, std::string_view cache_control);

}  // namespace presetbridge::api
