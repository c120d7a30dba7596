// The readable reference, compiled in: api/reference.html, which api/make_openapi_json.mjs makes from the
// contract, and its style sheet, api/reference.css.
#pragma once

#include <string_view>

namespace presetbridge::api {

extern const std::string_view reference_page;
extern const std::string_view reference_style;

}  // namespace presetbridge::api
