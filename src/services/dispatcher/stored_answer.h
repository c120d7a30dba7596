// The start of a receiver's answer as it is kept with the attempt (spec 10.5).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace presetbridge::services {

inline constexpr std::size_t kStoredAnswerBytes = 1'024;

// At most kStoredAnswerBytes of valid UTF-8 without U+0000: each byte that belongs to no whole character, and
// each U+0000, becomes U+FFFD.
std::string stored_answer(std::string_view body);

}  // namespace presetbridge::services
