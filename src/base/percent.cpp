#include "base/percent.h"

#include "base/ascii.h"

namespace presetbridge {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kUnreservedMarks = "-._~";
  std::string out;
  for (const char c : text) {
    if (is_alphanumeric(c) || kUnreservedMarks.contains(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

}  // namespace presetbridge
