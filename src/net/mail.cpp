#include "net/mail.h"

#include <algorithm>

#include "base/utf8.h"

namespace presetbridge::net {

bool is_mail_address(std::string_view text) {
  constexpr std::size_t kLongest = 254;
  const auto at = text.find('@');
  if (text.size() > kLongest || at == 0 || at == text.npos || at + 1 == text.size()) return false;
  if (text.find('@', at + 1) != text.npos || !is_utf8(text)) return false;
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f || std::string_view("\"(),:;<>[\\]").contains(c);
  });
}

}  // namespace presetbridge::net
