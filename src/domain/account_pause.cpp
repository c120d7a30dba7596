#include "domain/account_pause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace presetbridge::domain {
namespace {

constexpr std::size_t kFailuresOfOutage = 3;
constexpr Millis kProbeInterval = std::chrono::minutes(1);
constexpr Millis kDefaultRetryAfter = std::chrono::minutes(1);
constexpr Millis kLongestRetryAfter = std::chrono::hours(24);
constexpr Millis kGiveUpAfter = std::chrono::hours(72);
constexpr std::array<std::string_view, 4> kReasonNames = {"", "rate_limited", "outage", "login_refused"};

bool in_trouble(const AccountPause& pause) {
  return pause.reason != PauseReason::none || !pause.failing.empty();
}

}  // namespace

std::string_view to_string(PauseReason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

AccountPause after_transient_failure(AccountPause pause, DeliveryId delivery, Timestamp now) {
  if (pause.reason == PauseReason::login_refused) return pause;
  if (!in_trouble(pause)) pause.since = now;
  if (pause.failing.size() < kFailuresOfOutage &&
      std::ranges::find(pause.failing, delivery) == pause.failing.end()) {
    pause.failing.push_back(delivery);
  }
  if (pause.failing.size() == kFailuresOfOutage) {
    // A Retry-After that reaches further still holds.
    const Timestamp floor = pause.reason == PauseReason::rate_limited ? pause.until : now;
    pause.reason = PauseReason::outage;
    pause.until = std::max(floor, now + kProbeInterval);
  }
  return pause;
}

AccountPause after_rate_limit(AccountPause pause, std::optional<Millis> retry_after, Timestamp now) {
  if (pause.reason == PauseReason::login_refused) return pause;
  if (!in_trouble(pause)) pause.since = now;
  const Millis wait = std::clamp(retry_after.value_or(kDefaultRetryAfter), Millis(1'000), kLongestRetryAfter);
  pause.reason = PauseReason::rate_limited;
  pause.until = now + wait;
  return pause;
}

AccountPause after_login_refused(AccountPause, Timestamp now) {
  return {.reason = PauseReason::login_refused, .until = now, .since = now, .failing = {}};
}

AccountPause after_credentials_saved(AccountPause pause) {
  return pause.reason == PauseReason::login_refused ? AccountPause{} : pause;
}

AccountPause after_success(AccountPause pause) {
  return pause.reason == PauseReason::login_refused ? pause : AccountPause{};
}

AccountPause after_probe_started(AccountPause pause, Timestamp now) {
  if (pause.reason == PauseReason::outage) pause.until = now + kProbeInterval;
  return pause;
}

bool paused(const AccountPause& pause, Timestamp now) {
  return pause.reason == PauseReason::login_refused ||
         (pause.reason != PauseReason::none && now < pause.until);
}

std::optional<Timestamp> next_job_at(const AccountPause& pause, Timestamp now) {
  if (pause.reason == PauseReason::login_refused) return std::nullopt;
  return paused(pause, now) ? pause.until : now;
}

bool given_up(const AccountPause& pause, Timestamp now) {
  const bool waits = pause.reason == PauseReason::rate_limited || pause.reason == PauseReason::outage;
  return waits && now - pause.since >= kGiveUpAfter;
}

std::string encode(const AccountPause& pause) {
  std::string out = fmt::format("{} {} {}", static_cast<int>(pause.reason), to_unix_ms(pause.until),
                                to_unix_ms(pause.since));
  for (const DeliveryId id : pause.failing) out += fmt::format(" {}", id.value);
  return out;
}

std::optional<AccountPause> decode_account_pause(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || numbers.size() == 3 + kFailuresOfOutage) return std::nullopt;
    numbers.push_back(number);
    if (next == end) break;
    if (*next != ' ') return std::nullopt;
    at = next + 1;
  }
  if (numbers.size() < 3 || numbers[0] < 0 || numbers[0] >= std::ssize(kReasonNames)) return std::nullopt;
  AccountPause pause{.reason = static_cast<PauseReason>(numbers[0]),
                     .until = from_unix_ms(numbers[1]),
                     .since = from_unix_ms(numbers[2]),
                     .failing = {}};
  for (std::size_t i = 3; i < numbers.size(); ++i) pause.failing.push_back(DeliveryId{numbers[i]});
  // Other spellings of the numbers, and times whose differences no Timestamp holds, are not of encode().
  if (numbers[1] < 0 || numbers[2] < 0 || encode(pause) != text) return std::nullopt;
  return pause;
}

}  // namespace presetbridge::domain
