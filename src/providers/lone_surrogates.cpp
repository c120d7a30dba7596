#include "providers/lone_surrogates.h"

#include <charconv>

namespace presetbridge::providers {
namespace {

constexpr std::size_t kEscapeSize = std::string_view("\\ud83c").size();

// The code unit of a \uXXXX at the front of `text`; 0, which matters here no more than another, if there is
// none.
unsigned unit_at_front(std::string_view text) {
  if (text.size() < kEscapeSize || !text.starts_with("\\u")) return 0;
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + kEscapeSize, unit, 16);
  return error == std::errc{} && end == text.data() + kEscapeSize ? unit : 0;
}

bool is_high(unsigned unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low(unsigned unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

}  // namespace

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::optional<std::string> changed;
  for (auto at = json.find('\\'); at != json.npos; at = json.find('\\', at)) {
    const auto unit = unit_at_front(json.substr(at));
    if (is_high(unit) && is_low(unit_at_front(json.substr(at + kEscapeSize)))) {
      at += 2 * kEscapeSize;
    } else if (is_high(unit) || is_low(unit)) {
      if (!changed) changed.emplace(json);
      changed->replace(at, kEscapeSize, "\\ufffd");
      at += kEscapeSize;
    } else {
      at += 2;  // what is escaped is no beginning: "\\ud83c" is a backslash and five letters
    }
  }
  return changed;
}

}  // namespace presetbridge::providers
