#include "identity/sign_up_limit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace presetbridge::identity {
namespace {

constexpr Millis kHour = std::chrono::hours{1};

Millis wait_of(const domain::Admission& admission) {
  return admission.allowed ? Millis{0} : std::max(admission.retry_after, Millis{1});
}

// Who may speak for others is nobody's place.
std::string place_of(const net::Caller& caller) {
  return caller.for_others ? std::string() : caller.network;
}

}  // namespace

SignUpLimit::SignUpLimit(SignUpLimits limits) : limits_(limits), together_(limits.together, kHour) {}

Millis SignUpLimit::admit(const std::string& place, Timestamp now) {
  const auto known = place.empty() ? places_.end() : places_.find(place);
  if (known != places_.end()) {
    if (const auto wait = wait_of(known->second.peek(now)); wait > Millis{0}) return wait;
  }
  if (const auto wait = wait_of(together_.admit(now)); wait > Millis{0}) return wait;
  if (place.empty()) return Millis{0};
  if (known != places_.end()) {
    known->second.admit(now);
    return Millis{0};
  }
  // At most `together` places have attempts in this hour, so making room always succeeds.
  if (std::ssize(places_) >= limits_.together) forget_idle(now);
  places_.try_emplace(place, limits_.per_address, kHour).first->second.admit(now);
  return Millis{0};
}

void SignUpLimit::give_back(const std::string& place, Timestamp counted_at) {
  together_.give_back(counted_at);
  if (const auto known = places_.find(place); known != places_.end()) known->second.give_back(counted_at);
}

void SignUpLimit::forget_idle(Timestamp now) {
  std::erase_if(places_,
                [&](const auto& one) { return one.second.peek(now).remaining == limits_.per_address; });
}

SignUpGate::Limits::Limits(const SignUpLimits& limits, const Clock& clock)
    : uninvited(limits),
      invited_of_networks(clock, {.times = limits.per_address, .window = kHour}),
      invited_of_accounts(clock, {.times = invited_of_account, .window = kHour}) {}

Millis SignUpGate::admit(const net::Caller& caller, Timestamp now, AccountId invited_to) {
  const std::scoped_lock lock(mutex_);
  if (!limits_) return Millis{0};
  auto place = place_of(caller);
  if (!invited_to) return limits_->uninvited.admit(place, now);
  auto account = to_string(invited_to);
  auto wait = limits_->invited_of_accounts.wait(account);
  if (!place.empty()) wait = std::max(wait, limits_->invited_of_networks.wait(place));
  if (wait > Millis{0}) return wait;
  limits_->invited_of_accounts.count(std::move(account));
  if (!place.empty()) limits_->invited_of_networks.count(std::move(place));
  return Millis{0};
}

void SignUpGate::failed(const net::Caller& caller, Timestamp counted_at, AccountId invited_to,
                        const Error& error) {
  constexpr std::array<std::string_view, 6> kCostNothing = {"OVERLOADED",          "STORAGE_UNAVAILABLE",
                                                            "INTERNAL_ERROR",      "OUT_OF_MEMORY",
                                                            "RATE_LIMIT_EXCEEDED", "CONFLICT"};
  if (std::ranges::find(kCostNothing, error.code) == kCostNothing.end()) return;
  const std::scoped_lock lock(mutex_);
  if (!limits_) return;
  const auto place = place_of(caller);
  if (!invited_to) return limits_->uninvited.give_back(place, counted_at);
  limits_->invited_of_accounts.give_back(to_string(invited_to));
  limits_->invited_of_networks.give_back(place);
}

}  // namespace presetbridge::identity
