#include "base/time.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace presetbridge {
namespace {

// Reads exactly `count` digits from the front of `text` and removes them.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + count, value);
  if (ec != std::errc{} || end != text.data() + count || text.front() == '-') return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_iso8601(Timestamp t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{t - day};
  std::array<char, 40> out{};
  const int n = std::snprintf(
      out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return {out.data(), static_cast<std::size_t>(n)};
}

std::optional<Timestamp> parse_iso8601(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second) return std::nullopt;

  int ms = 0;
  if (take(text, '.')) {
    int scale = 100;
    std::size_t digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
      ms += (text.front() - '0') * scale;
      scale /= 10;
    }
    if (digits == 0) return std::nullopt;
  }

  std::chrono::minutes offset{0};
  if (!text.empty() && !take(text, 'Z') && !take(text, 'z')) {
    const int sign = text.front() == '-' ? -1 : 1;
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const auto oh = take_digits(text, 2);
    if (!oh) return std::nullopt;
    take(text, ':');
    const auto om = take_digits(text, 2);
    if (!om || *oh > 23 || *om > 59) return std::nullopt;
    offset = sign * (std::chrono::hours{*oh} + std::chrono::minutes{*om});
  }
  if (!text.empty()) return std::nullopt;

  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const Timestamp time = std::chrono::sys_days{date} + std::chrono::hours{*hour} +
                         std::chrono::minutes{*minute} + std::chrono::seconds{*second} + Millis{ms} - offset;
  // An offset or a leap second can lead out of the years that four digits write.
  using std::chrono::January;
  constexpr auto kFirst = std::chrono::sys_days{std::chrono::year{0} / January / 1};
  constexpr auto kEnd = std::chrono::sys_days{std::chrono::year{10'000} / January / 1};
  if (time < kFirst || time >= kEnd) return std::nullopt;
  return time;
}

}  // namespace presetbridge
