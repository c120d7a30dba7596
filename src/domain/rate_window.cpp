#include "domain/rate_window.h"

#include <algorithm>

namespace presetbridge::domain {
namespace {

constexpr std::size_t kEntryBytes = 8;
constexpr std::size_t kMostEntries = 100'000;
constexpr Millis kMostOvertaken{15'000};

}  // namespace

Timestamp RateWindow::settle(Timestamp now) {
  if (!admitted_.empty() && admitted_.back() - now <= kMostOvertaken) now = std::max(now, admitted_.back());
  std::erase_if(admitted_, [&](Timestamp t) { return t <= now - window_; });
  for (Timestamp& t : admitted_) t = std::min(t, now);
  return now;
}

RateWindow RateWindow::full(std::int64_t limit, Millis window, Timestamp now) {
  RateWindow result(limit, window);
  result.admitted_.assign(static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)), now);
  return result;
}

Admission RateWindow::admit(Timestamp now) {
  const Timestamp at = settle(now);
  if (std::ssize(admitted_) >= limit_) return peek(now);
  admitted_.push_back(at);
  Admission admission = peek(now);
  admission.allowed = true;
  return admission;
}

void RateWindow::give_back(Timestamp admitted_at) {
  const auto found = std::ranges::lower_bound(admitted_, admitted_at);
  if (found != admitted_.end() && *found - admitted_at <= kMostOvertaken) admitted_.erase(found);
}

Admission RateWindow::peek(Timestamp now) const {
  RateWindow current = *this;
  current.settle(now);
  const std::int64_t used = std::ssize(current.admitted_);
  Admission admission{
      .allowed = used < limit_, .limit = limit_, .remaining = std::max<std::int64_t>(limit_ - used, 0)};
  if (used > 0) admission.reset_after = current.admitted_.back() + window_ - now;
  const auto free = next_free(now);
  admission.retry_after = free ? *free - now : window_;
  return admission;
}

std::optional<Timestamp> RateWindow::next_free(Timestamp now) const {
  if (limit_ <= 0) return std::nullopt;
  RateWindow current = *this;
  current.settle(now);
  const std::int64_t used = std::ssize(current.admitted_);
  if (used < limit_) return now;
  // One is free once fewer than the limit remain. More may be stored if the limit was lowered.
  return current.admitted_[static_cast<std::size_t>(used - limit_)] + window_;
}

std::vector<std::byte> RateWindow::encode() const {
  std::vector<std::byte> out;
  out.reserve(admitted_.size() * kEntryBytes);
  for (const Timestamp t : admitted_) {
    const auto ms = static_cast<std::uint64_t>(to_unix_ms(t));
    for (std::size_t i = 0; i < kEntryBytes; ++i) out.push_back(static_cast<std::byte>(ms >> (8 * i)));
  }
  return out;
}

std::optional<RateWindow> RateWindow::decode(std::int64_t limit, Millis window,
                                             std::span<const std::byte> bytes) {
  if (bytes.size() % kEntryBytes != 0 || bytes.size() / kEntryBytes > kMostEntries) return std::nullopt;
  RateWindow result(limit, window);
  result.admitted_.reserve(bytes.size() / kEntryBytes);
  for (std::size_t at = 0; at < bytes.size(); at += kEntryBytes) {
    std::uint64_t ms = 0;
    for (std::size_t i = 0; i < kEntryBytes; ++i)
      ms |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    const Timestamp t = from_unix_ms(static_cast<std::int64_t>(ms));
    if (!result.admitted_.empty() && t < result.admitted_.back()) return std::nullopt;
    result.admitted_.push_back(t);
  }
  return result;
}

}  // namespace presetbridge::domain
