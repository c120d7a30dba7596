// Whether text from outside is UTF-8.
#pragma once

#include <string_view>

namespace presetbridge::domain {

// No overlong forms, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace presetbridge::domain
