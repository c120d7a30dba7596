#include "domain/utf8.h"

#include <utf8proc.h>

namespace presetbridge::domain {

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t character = 0;
    const auto read = utf8proc_iterate(at, left, &character);
    if (read < 1) return false;
    at += read;
    left -= read;
  }
  return true;
}

}  // namespace presetbridge::domain
