#include "services/webhooks/event_uuid.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace presetbridge::services {
namespace {

constexpr std::uint64_t kVersion = 8;
constexpr std::uint64_t kVariant = 0b10;
constexpr int kLowIdBits = 3;  // of the id, in the second half
constexpr int kChanceBits = 59;
constexpr std::size_t kCharacters = 36;

}  // namespace

std::string event_uuid(EventId event, Random& random) {
  const auto id = static_cast<std::uint64_t>(event.value);
  std::array<std::uint64_t, 1> chance{};
  random.fill(std::as_writable_bytes(std::span(chance)));
  const std::uint64_t high = (id >> 15 << 16) | kVersion << 12 | (id >> kLowIdBits & 0xfff);
  const std::uint64_t low = kVariant << 62 | (id & 0b111) << kChanceBits | chance[0] >> (64 - kChanceBits);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffff'ffff'ffff);
}

std::optional<EventId> event_of(std::string_view uuid) {
  if (uuid.size() != kCharacters) return std::nullopt;
  std::array<std::uint64_t, 2> halves{};
  int digits = 0;
  for (std::size_t i = 0; i < kCharacters; ++i) {
    const char c = uuid[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return std::nullopt;
      continue;
    }
    const bool letter = c >= 'a' && c <= 'f';
    if (!letter && (c < '0' || c > '9')) return std::nullopt;
    auto& half = halves[digits++ < 16 ? 0 : 1];
    half = half << 4 | static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
  }
  const auto [high, low] = halves;
  if ((high >> 12 & 0xf) != kVersion || low >> 62 != kVariant) return std::nullopt;
  const EventId event{static_cast<std::int64_t>((high >> 16 << 15) | (high & 0xfff) << kLowIdBits |
                                                (low >> kChanceBits & 0b111))};
  return event ? std::optional(event) : std::nullopt;
}

}  // namespace presetbridge::services
