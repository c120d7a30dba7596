// A text that somebody typed to search by.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::api {

// `text` without Unicode white space and zero-width characters at its ends. Nothing where it has no other
// character but these and '@', which would find everything.
std::optional<std::string> parse_sent_search(std::string_view text);
// The problem of an empty search.
inline constexpr std::string_view kNoSentSearch = "must have something to search for";

}  // namespace presetbridge::api
