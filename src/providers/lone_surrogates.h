// Escapes of JSON strings that are half a character: stores cut texts between the two escapes of an emoji and
// sign what is left, and JSON readers refuse it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::providers {

// `json` with each \uD800-\uDFFF that is no half of a pair made \ufffd; nothing if there is none. The result
// is as long as `json`, and differs in those digits alone. Linear in the text, whatever it is.
std::optional<std::string> without_lone_surrogates(std::string_view json);

}  // namespace presetbridge::providers
