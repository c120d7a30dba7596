#include "api/sent_search.h"

#include "domain/username.h"

namespace presetbridge::api {

std::optional<std::string> parse_sent_search(std::string_view text) {
  const auto search = domain::trim_unicode(text);
  auto rest = search;
  while (rest.starts_with('@')) rest = domain::trim_unicode(rest.substr(1));
  if (rest.empty()) return std::nullopt;
  return std::string(search);
}

}  // namespace presetbridge::api
