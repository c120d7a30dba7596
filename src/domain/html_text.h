// Text as a browser shows it: shops keep titles as HTML writes them (spec 2.11).
#pragma once

#include <string>
#include <string_view>

namespace presetbridge::domain {

// `text` with its character references made what they stand for, until none is left ("&amp;lt;" is "<", as
// shops that encode twice mean it): decimal and hexadecimal ones, those of 128 to 159 as browsers take them
// (windows-1252), and the names of HTML 4's Latin-1 part and of its marks and quotes. Other
// references stay, as do those of control characters, surrogates and numbers beyond Unicode, and a name
// without its ';'. Idempotent, linear in the text, never longer than it. Bytes that are not UTF-8 stay.
std::string decode_html(std::string_view text);

}  // namespace presetbridge::domain
