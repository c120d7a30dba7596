#include "api/sent_search.h"

#include "domain/username.h"

namespace presetbridge::api {

std::optional<std::string> parse_sent_search(std::string_view text) {
  const auto search = domain::trim_unicode(text);
  auto name = search;
  while (name.starts_with('@')) name = domain::trim_unicode(name.substr(1));
  if (name.empty()) return std::nullopt;
  return std::string(search);
}

}  // namespace presetbridge::api
