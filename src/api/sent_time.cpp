#include "api/sent_time.h"

#include <algorithm>

namespace presetbridge::api {
namespace {

// The form alone: whether there is such a time is parse_iso8601's to say.
bool is_rfc3339(std::string_view text) {
  constexpr std::size_t kSeconds = std::string_view("2026-01-31T12:00:00").size();
  constexpr std::size_t kMostDigits = 9;
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kFirstYear = "1970";
  constexpr std::string_view kLastYear = "2999";
  if (text.substr(0, 4) < kFirstYear || text.substr(0, 4) > kLastYear) return false;
  if (text.size() <= kSeconds || text[10] != 'T' || text[17] > '5') return false;
  auto rest = text.substr(kSeconds);
  if (rest.starts_with('.')) {
    const auto digits = std::min(rest.find_first_not_of(kDigits, 1), rest.size()) - 1;
    if (digits == 0 || digits > kMostDigits) return false;
    rest.remove_prefix(1 + digits);
  }
  return rest == "Z" || (rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':');
}

}  // namespace

std::optional<Timestamp> parse_sent_time(std::string_view text) {
  return is_rfc3339(text) ? parse_iso8601(text) : std::nullopt;
}

}  // namespace presetbridge::api
