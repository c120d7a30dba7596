#include "base/whole_number.h"

#include <algorithm>
#include <cstdint>

namespace presetbridge {
namespace {

// Far beyond what any text of a sane size could make up for with zeros behind its point.
constexpr std::int64_t kMaxExponent = 1'000'000'000'000;

std::string_view take_digits(std::string_view& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  const auto digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Reads the exponent behind 'e'; one beyond the range becomes the largest.
std::optional<std::int64_t> take_exponent(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const auto digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  std::int64_t exponent = 0;
  for (const char digit : digits) exponent = std::min(exponent * 10 + (digit - '0'), kMaxExponent);
  return negative ? -exponent : exponent;
}

}  // namespace

std::optional<std::string> whole_number(std::string_view number, std::size_t max_digits) {
  const bool negative = take(number, '-');
  const auto before = take_digits(number);
  if (before.empty()) return std::nullopt;
  std::string_view behind;  // the point
  if (take(number, '.')) {
    behind = take_digits(number);
    if (behind.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (take(number, 'e') || take(number, 'E')) {
    const auto taken = take_exponent(number);
    if (!taken) return std::nullopt;
    exponent = *taken;
  }
  if (!number.empty()) return std::nullopt;

  // The value is `digits`, times ten to the power of `exponent`.
  std::string digits(before);
  digits += behind;
  exponent -= static_cast<std::int64_t>(behind.size());
  const auto first = digits.find_first_not_of('0');
  if (first == digits.npos) return "0";
  const auto last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  digits = digits.substr(first, last - first + 1);
  if (exponent < 0 || static_cast<std::uint64_t>(exponent) + digits.size() > max_digits) return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  return negative ? "-" + digits : digits;
}

}  // namespace presetbridge
