// Whole numbers as JSON writes them (RFC 8259), which may be with a fraction of nothing or an exponent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace presetbridge {

// The digits of the whole number that `number`, the text of a JSON number, exactly is: "278", "278.0" and
// "2.78e2" are "278", "-2.0" is "-2", "-0" is "0". Nothing where it has a fraction, more than `max_digits`
// digits, or another form. No floating point is involved, so every digit counts. Linear in the text.
std::optional<std::string> whole_number(std::string_view number, std::size_t max_digits);

}  // namespace presetbridge
