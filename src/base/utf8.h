// Text in UTF-8 (RFC 3629): no overlong form, no surrogate, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace presetbridge {

// Whether the byte goes on a character that began before it.
constexpr bool goes_on(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The bytes of the character that `text` begins with; 0: it begins with none.
std::size_t character_size(std::string_view text);

bool is_utf8(std::string_view text);

// How long a text is for a person: its characters (code points). Bytes that go on a character are not counted.
std::size_t characters(std::string_view text);

// At most `most` characters from the front of `text`.
std::string_view first_characters(std::string_view text, std::size_t most);

// At most `max_bytes` from the front of `text`, never splitting a character.
std::string_view cut_utf8(std::string_view text, std::size_t max_bytes);

}  // namespace presetbridge
