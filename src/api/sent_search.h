// The text of a search, as a request has it: the check that all routes with a search share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::api {

// `text` without Unicode white space and zero-width characters at its ends. Nothing where `text` is made of
// these characters and '@' alone: such a search would find everything.
std::optional<std::string> parse_sent_search(std::string_view text);
// The problem of a field for which parse_sent_search() returns nothing.
inline constexpr std::string_view kNoSentSearch = "must have something to search for";

}  // namespace presetbridge::api
