#include "base/ids.h"

#include <algorithm>
#include <array>

#include "base/id_time.h"

namespace presetbridge {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr int kDigits = 13;                           // 13 * 5 = 65 bits, the top two always zero
constexpr std::int64_t kEpochMs = 1'704'067'200'000;  // 2024-01-01T00:00:00Z
constexpr int kNodeBits = 10;
constexpr int kSequenceBits = 12;

}  // namespace

std::string format_id(std::string_view prefix, std::int64_t value) {
  std::string out;
  out.reserve(prefix.size() + 1 + kDigits);
  append_id(out, prefix, value);
  return out;
}

void append_id(std::string& out, std::string_view prefix, std::int64_t value) {
  std::array<char, kDigits> digits;
  auto rest = static_cast<std::uint64_t>(value);
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, rest >>= 5)
    *digit = kAlphabet[rest & 31];
  out.append(prefix).push_back('_');
  out.append(digits.data(), digits.size());
}

std::optional<std::int64_t> parse_id(std::string_view prefix, std::string_view text) {
  if (text.size() != prefix.size() + 1 + kDigits || !text.starts_with(prefix) || text[prefix.size()] != '_') {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (char c : text.substr(prefix.size() + 1)) {
    auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || value >> 58 != 0) return std::nullopt;
    value = value << 5 | digit;
  }
  if (value == 0 || value >> 63 != 0) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::int64_t first_id_at(Timestamp at) {
  return std::max<std::int64_t>(to_unix_ms(at) - kEpochMs, 0) << (kNodeBits + kSequenceBits);
}

Timestamp made_at(std::int64_t id) {
  return from_unix_ms((id >> (kNodeBits + kSequenceBits)) + kEpochMs);
}

std::int64_t IdSource::next() {
  const std::int64_t now = (to_unix_ms(clock_.now()) - kEpochMs) << kSequenceBits;
  std::int64_t last = last_.load(std::memory_order_relaxed);
  std::int64_t tick = 0;
  do {
    tick = now > last ? now : last + 1;
  } while (!last_.compare_exchange_weak(last, tick, std::memory_order_relaxed));
  const std::int64_t ms = tick >> kSequenceBits;
  const std::int64_t sequence = tick & ((1 << kSequenceBits) - 1);
  return ms << (kNodeBits + kSequenceBits) | static_cast<std::int64_t>(node_) << kSequenceBits | sequence;
}

}  // namespace presetbridge
