// Text as a browser shows it, from the HTML in which shops store titles (spec 2.11).
#pragma once

#include <string>
#include <string_view>

namespace presetbridge::domain {

// Replaces the character references in `text` by their characters until none is left, as some shops encode
// twice: "&amp;lt;" gives "<". It knows decimal and hexadecimal numbers, 128 to 159 as browsers read them
// (windows-1252), and the names of HTML 4's Latin-1 characters and of its marks and quotes. Other
// references stay, as do those without their ';', those to control characters, surrogates and numbers
// beyond Unicode, and bytes that are not UTF-8. Idempotent, in linear time; never lengthens `text`.
std::string decode_html(std::string_view text);

}  // namespace presetbridge::domain
