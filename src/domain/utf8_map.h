// Text mapped by utf8proc, which is C.
#pragma once

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::domain {

// The text, mapped as `how` says (bits of utf8proc_option_t). Nothing: it is not UTF-8.
inline std::optional<std::string> utf8_map(std::string_view text, int how) {
  struct Free {
    void operator()(utf8proc_uint8_t* p) const { std::free(p); }
  };
  // The library's enumerators are bits, to be put together.
  const auto options =
      static_cast<utf8proc_option_t>(how);  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange)
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(made);
  if (size < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

}  // namespace presetbridge::domain
