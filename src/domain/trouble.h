// Trouble with the cloud platform (spec 3.5), call by call: what one cloud account meets, and what one
// customer of it does. Only the success of a call that failed ends its trouble: a read that answers proves
// nothing about a write.
//
// A delivery's failure is its customer's own trouble, retried by retry_schedule.h, until three different
// deliveries have failed in a row with no success of the same call between. That is an outage of the account:
// one probe a minute retries failed work, all other work waits, and no delivery loses an attempt. A 429 stops
// the account for its Retry-After. Sweeps are apart: they fail for no delivery, and are no probe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace presetbridge::domain {

// The calls of the platform that jobs make. The names are what the database holds.
enum class CallKind {
  find_user,
  friendship,
  request_friendship,
  withdraw,
  share,
  find_share,
  revoke,
  list_changes  // a sweep's
};
inline constexpr std::array<std::string_view, 8> kCallKindNames = {
    "find_user",  "friendship", "request_friendship", "withdraw", "share",
    "find_share", "revoke",     "list_changes"};
constexpr std::string_view to_string(CallKind k) {
  return kCallKindNames[static_cast<std::size_t>(k)];
}
std::optional<CallKind> parse_call_kind(std::string_view text);

inline constexpr Millis kProbeInterval = std::chrono::minutes(1);      // of an outage
inline constexpr Millis kTroubleLimit = std::chrono::hours(72);        // then open work fails
inline constexpr Millis kFailedProbeInterval = std::chrono::hours(1);  // of deliveries that failed so,
inline constexpr Millis kFailedProbeLimit = std::chrono::days(30);     // and for how long
inline constexpr Millis kLongestRetryAfter = std::chrono::hours(24);

struct CallTrouble {
  CallKind call = CallKind::find_user;
  std::optional<Timestamp> outage_since;  // list_changes: since when it fails
  std::optional<Timestamp> limited_since;
  Timestamp limited_until{};  // the latest end of a 429 since then; means nothing without limited_since
  // Different deliveries for which the call failed or was answered 429, with no success of it between; at most
  // 3, none of list_changes.
  std::vector<DeliveryId> deliveries;
  bool operator==(const CallTrouble&) const = default;
};

// A cloud account's. A value; the functions below give the next one. Without trouble: AccountTrouble{}.
struct AccountTrouble {
  Timestamp probe_at{};            // in an outage: when the next probe may start
  std::vector<CallTrouble> calls;  // by rising kind, each once
  bool operator==(const AccountTrouble&) const = default;
};

// A customer's row of failures, outside of any outage.
struct FailingCall {
  CallKind call = CallKind::find_user;  // the first that failed: only its success ends the row
  DeliveryId delivery;                  // for which it failed; none: for no delivery
  std::int64_t failures = 0;
  Timestamp since{};
  bool operator==(const FailingCall&) const = default;
};

// All that fails for a customer: a delivery has one row, and one for its revocations.
using FailingCalls = std::vector<FailingCall>;
inline constexpr std::size_t kMostFailingCalls = 8;  // of one customer

// The row to which a failure of the call for the delivery belongs, if there is one.
std::optional<FailingCall> failing_row(const FailingCalls& rows, CallKind call, DeliveryId delivery);
// Puts `row` in its place; without `row`, removes the one that is there. False: it is new, there is no room,
// and nothing changed.
bool put_failing_row(FailingCalls& rows, CallKind call, DeliveryId delivery, std::optional<FailingCall> row);

struct AfterFailure {
  AccountTrouble account;
  std::optional<FailingCall> customer;
  // The effect on the job's deliveries: they are retried at `retry_at`; without it, and where `paused` is
  // false, they have failed as cloud_unavailable.
  std::optional<Timestamp> retry_at;
  bool paused = false;  // the account is in an outage: no attempt is lost, and the queue goes on with a probe
};

// A job's call failed in a passing way. A second failure of the same delivery is not a second delivery; of no
// delivery, it is the customer's trouble alone. `draw` is 64 random bits.
AfterFailure after_failure(AccountTrouble account, std::optional<FailingCall> customer, CallKind call,
                           DeliveryId delivery, Timestamp now, std::uint64_t draw);
// 429, to any call. Without Retry-After one minute; a longer one than a day counts as a day, one below a
// second as a second.
AccountTrouble after_rate_limit(AccountTrouble account, CallKind call, DeliveryId delivery,
                                std::optional<Millis> retry_after, Timestamp now);
AccountTrouble after_sweep_failure(AccountTrouble account, Timestamp now);
// The call succeeded, or a write that may have failed was found done. A limit that still runs is not ended by
// it: the call was made before.
AccountTrouble after_success(AccountTrouble account, CallKind call, Timestamp now);
// A share, its settlement and its revocation are the delivery's own; any other call is all of the customer's.
FailingCalls after_success(FailingCalls rows, CallKind call, DeliveryId delivery);
// A job is about to start in an outage: it is the probe of this minute. The clocks of trouble that nothing
// met for three hours begin anew.
AccountTrouble after_probe_started(AccountTrouble account, Timestamp now);
// Forgets the deliveries for which `at_work` does not hold, and trouble that nothing is left of, or that
// nothing met for three hours: who is at work meets it within one.
AccountTrouble without_gone(AccountTrouble account, const std::function<bool(DeliveryId)>& at_work,
                            Timestamp now);

// The trouble that pauses the account's work, for logs and metrics: "outage", "rate_limited", or "" for
// nothing. A limit counts until the call that met it succeeds.
std::string_view trouble_name(const AccountTrouble& account);
// Jobs of deliveries are down to one probe a minute.
bool in_outage(const AccountTrouble& account);
// The deliveries that an outage's probe is to try.
std::vector<DeliveryId> failing_in_outage(const AccountTrouble& account);
// Whether a probe of this minute takes other due work first, as each second one does: those that failed may
// fail for a reason of their own, which must not stop the account.
bool probe_takes_others(const AccountTrouble& account, Timestamp now);
// The index, below `of` (one at least), of the failing delivery that this minute's probe retries. Probes of an
// outage take them in turn, however soon each is due: one that fails for a reason of its own must not be the
// only one that is retried.
std::size_t turn_of_probe(const AccountTrouble& account, std::size_t of, Timestamp now);
// When a job of a delivery may start, and when a sweep: `now` or later.
Timestamp next_job_at(const AccountTrouble& account, Timestamp now);
Timestamp next_sweep_at(const AccountTrouble& account, Timestamp now);
// When a sweep that failed now runs again: after as long as sweeps have failed already, but a minute at least
// and an hour at most.
Timestamp sweep_again_at(const AccountTrouble& account, Timestamp now);
// Since when the account's trouble lasts, if that is 72 h: its open work then fails as cloud_unavailable.
std::optional<Timestamp> given_up(const AccountTrouble& account, Timestamp now);
// Whether trouble that began then goes on.
bool lasts(const AccountTrouble& account, Timestamp since);

// One short text column, empty without trouble; decode gives nothing for what encode did not make.
std::string encode(const AccountTrouble& account);
std::optional<AccountTrouble> decode_account_trouble(std::string_view text);
std::string encode(const FailingCalls& rows);
std::optional<FailingCalls> decode_failing_calls(std::string_view text);

}  // namespace presetbridge::domain
