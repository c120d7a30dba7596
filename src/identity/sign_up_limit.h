// Limits attempts to sign up (spec 7.2): by place, so that a stranger uses up their own attempts and not
// everybody's; and over all places, for strangers who come from many. Strangers use up no attempts of people
// with an invitation, which count by place and by the account that invites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "domain/rate_window.h"
#include "net/client_address.h"
#include "net/key_budget.h"

namespace presetbridge::identity {

struct SignUpLimits {
  std::int64_t per_address = 0;  // attempts in any hour from one place, > 0
  std::int64_t together = 0;     // of everybody, > 0
};

// Not thread-safe. Holds at most `together` places: each of them has had one of the hour's attempts.
class SignUpLimit {
 public:
  explicit SignUpLimit(SignUpLimits limits);

  // Counts a try from `place` if there is room for one (then 0); else how long until there is. A
  // refused attempt does not count, so nobody waits longer for it. An empty place is one that nothing
  // is known of: only the limit of all holds.
  Millis admit(const std::string& place, Timestamp now);
  // A try that admit() counted at that time came to nothing by our fault.
  void give_back(const std::string& place, Timestamp counted_at);

  std::size_t places() const { return places_.size(); }

 private:
  void forget_idle(Timestamp now);

  const SignUpLimits limits_;
  domain::RateWindow together_;
  std::unordered_map<std::string, domain::RateWindow> places_;
};

// The one limit for whatever way people sign up by. Thread-safe.
class SignUpGate {
 public:
  // Attempts of the people whom one account invites; they come back evenly over an hour.
  static constexpr std::int64_t invited_of_account = 100;

  // `clock` outlives this. Without `limits` as many as are made.
  SignUpGate(const std::optional<SignUpLimits>& limits, const Clock& clock) {
    if (limits) limits_.emplace(*limits, clock);
  }
  // As SignUpLimit's. `invited_to`: the account of a valid invitation; none: it is by no invitation. By an
  // invitation an attempt counts for the account alone, and in another budget of the caller's network.
  Millis admit(const net::Caller& caller, Timestamp now, AccountId invited_to = {});
  // An attempt that admit() counted at that time ended with `error`. It is given back where the fault is ours,
  // another one for the same identity came first (CONFLICT), or the caller's network had no seat
  // (PasswordWorkers::seat()). Any other end counts: it may reveal who has an
  // account, as that of an invitation to a full account does.
  void failed(const net::Caller& caller, Timestamp counted_at, AccountId invited_to, const Error& error);

 private:
  struct Limits {
    Limits(const SignUpLimits& limits, const Clock& clock);
    SignUpLimit uninvited;
    net::KeyBudget invited_of_networks;
    net::KeyBudget invited_of_accounts;
  };

  std::mutex mutex_;  // guards limits_
  std::optional<Limits> limits_;
};

}  // namespace presetbridge::identity
