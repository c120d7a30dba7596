// How long a text is for a person.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace presetbridge {

// Characters (code points) of UTF-8: the bytes that go on a character are not counted.
inline std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace presetbridge
