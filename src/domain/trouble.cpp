#include "domain/trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "domain/names.h"
#include "domain/retry_schedule.h"

namespace presetbridge::domain {
namespace {

constexpr std::size_t kFailuresOfOutage = 3;
constexpr Millis kDefaultRetryAfter = std::chrono::minutes(1);
constexpr Millis kShortestRetryAfter = std::chrono::seconds(1);
// A running account meets its trouble again within an hour (kFailedProbeInterval); one that did not was idle.
constexpr Millis kTroubleForgotten = std::chrono::hours(3);

bool is_outage(const CallTrouble& its) {
  return its.outage_since && its.call != CallKind::list_changes;
}

CallTrouble& trouble_of(AccountTrouble& account, CallKind call) {
  auto at = std::ranges::lower_bound(account.calls, call, {}, &CallTrouble::call);
  if (at == account.calls.end() || at->call != call) at = account.calls.insert(at, CallTrouble{.call = call});
  return *at;
}

void remember(CallTrouble& its, DeliveryId delivery) {
  if (!delivery || its.deliveries.size() == kFailuresOfOutage) return;
  if (std::ranges::find(its.deliveries, delivery) == its.deliveries.end()) its.deliveries.push_back(delivery);
}

// Removes calls without trouble, and a probe's time without an outage.
AccountTrouble tidied(AccountTrouble account) {
  std::erase_if(account.calls, [](const CallTrouble& its) {
    return !its.outage_since && !its.limited_since && its.deliveries.empty();
  });
  if (!in_outage(account)) account.probe_at = {};
  return account;
}

// Whole ones since it began; none without an outage.
std::int64_t minutes_of_outage(const AccountTrouble& account, Timestamp now) {
  const auto first = std::ranges::find_if(account.calls, is_outage);
  if (first == account.calls.end()) return 0;
  return std::max<std::int64_t>((now - *first->outage_since) / kProbeInterval, 0);
}

// Whether so long nothing was at work that could have met it that nobody knows whether it went on.
bool is_forgotten(const AccountTrouble& account, Timestamp now) {
  return now - std::max(account.probe_at, next_sweep_at(account, Timestamp{})) >= kTroubleForgotten;
}

bool of_one_row(CallKind a, CallKind b) {
  return (a == CallKind::revoke) == (b == CallKind::revoke);
}

// Splits off what stands before `separator`, and takes both away.
std::string_view take(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Times whose differences no Timestamp holds are not of encode().
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<Timestamp> time_or_none(std::int64_t ms) {
  return ms == 0 ? std::nullopt : std::optional(from_unix_ms(ms));
}
std::int64_t ms_or_zero(const std::optional<Timestamp>& time) {
  return time ? to_unix_ms(*time) : 0;
}

std::optional<CallTrouble> decode_call(std::string_view text) {
  const auto call = parse_call_kind(take(text, ' '));
  if (!call) return std::nullopt;
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const auto value = number(take(text, ' '));
    if (!value || numbers.size() == 3 + kFailuresOfOutage) return std::nullopt;
    numbers.push_back(*value);
  }
  if (numbers.size() < 3) return std::nullopt;
  CallTrouble its{.call = *call,
                  .outage_since = time_or_none(numbers[0]),
                  .limited_since = time_or_none(numbers[1]),
                  .limited_until = from_unix_ms(numbers[2]),
                  .deliveries = {}};
  for (std::size_t i = 3; i < numbers.size(); ++i) remember(its, DeliveryId{numbers[i]});
  const bool listed = its.deliveries.size() == numbers.size() - 3;
  const bool sweeps = its.call == CallKind::list_changes;
  if (!listed || (sweeps && !its.deliveries.empty()) || (!its.limited_since && numbers[2] != 0))
    return std::nullopt;
  return its;
}

}  // namespace

std::optional<CallKind> parse_call_kind(std::string_view text) {
  return parse_name<CallKind>(kCallKindNames, text);
}

AfterFailure after_failure(AccountTrouble account, std::optional<FailingCall> customer, CallKind call,
                           DeliveryId delivery, Timestamp now, std::uint64_t draw) {
  auto& its = trouble_of(account, call);
  remember(its, delivery);
  if (its.deliveries.size() == kFailuresOfOutage && !its.outage_since) its.outage_since = now;
  account = tidied(std::move(account));
  if (in_outage(account)) {
    account.probe_at = std::max(account.probe_at, now + kProbeInterval);
    return {.account = std::move(account), .customer = customer, .retry_at = {}, .paused = true};
  }
  if (!customer) customer = FailingCall{.call = call, .delivery = delivery, .failures = 0, .since = now};
  // Attempts that a new order brought forward fail for the same reason: the waiting does not grow by them.
  if (now - customer->since >= customer->failures * kRetryFloor) ++customer->failures;
  const auto retry = next_retry(customer->since, static_cast<int>(customer->failures), now, draw);
  // A resumed delivery gets the whole time again.
  if (!retry) customer.reset();
  return {.account = std::move(account), .customer = customer, .retry_at = retry, .paused = false};
}

AccountTrouble after_rate_limit(AccountTrouble account, CallKind call, DeliveryId delivery,
                                std::optional<Millis> retry_after, Timestamp now) {
  const Millis wait =
      std::clamp(retry_after.value_or(kDefaultRetryAfter), kShortestRetryAfter, kLongestRetryAfter);
  auto& its = trouble_of(account, call);
  if (call != CallKind::list_changes) remember(its, delivery);
  its.limited_until = its.limited_since ? std::max(its.limited_until, now + wait) : now + wait;
  if (!its.limited_since) its.limited_since = now;
  return account;
}

AccountTrouble after_sweep_failure(AccountTrouble account, Timestamp now) {
  auto& its = trouble_of(account, CallKind::list_changes);
  if (!its.outage_since) its.outage_since = now;
  return account;
}

AccountTrouble after_success(AccountTrouble account, CallKind call, Timestamp now) {
  auto& its = trouble_of(account, call);
  its.outage_since.reset();
  if (its.limited_since && its.limited_until <= now) {
    its.limited_since.reset();
    its.limited_until = {};
  }
  its.deliveries.clear();
  return tidied(std::move(account));
}

FailingCalls after_success(FailingCalls rows, CallKind call, DeliveryId delivery) {
  const bool of_delivery =
      call == CallKind::share || call == CallKind::find_share || call == CallKind::revoke;
  std::erase_if(rows, [&](const FailingCall& row) {
    return row.call == call && (!of_delivery || row.delivery == delivery);
  });
  return rows;
}

std::optional<FailingCall> failing_row(const FailingCalls& rows, CallKind call, DeliveryId delivery) {
  const auto row = std::ranges::find_if(
      rows, [&](const auto& its) { return its.delivery == delivery && of_one_row(its.call, call); });
  return row == rows.end() ? std::nullopt : std::optional(*row);
}

bool put_failing_row(FailingCalls& rows, CallKind call, DeliveryId delivery, std::optional<FailingCall> row) {
  const auto removed = std::erase_if(
      rows, [&](const auto& its) { return its.delivery == delivery && of_one_row(its.call, call); });
  if (!row) return true;
  if (removed == 0 && rows.size() >= kMostFailingCalls) return false;
  rows.push_back(*row);
  return true;
}

AccountTrouble after_probe_started(AccountTrouble account, Timestamp now) {
  if (!in_outage(account)) return account;
  if (is_forgotten(account, now)) {
    for (auto& its : account.calls) {
      if (its.call == CallKind::list_changes) continue;
      if (its.outage_since) its.outage_since = now;
      if (its.limited_since) its.limited_since = now;
    }
  }
  account.probe_at = now + kProbeInterval;
  return account;
}

AccountTrouble without_gone(AccountTrouble account, const std::function<bool(DeliveryId)>& at_work,
                            Timestamp now) {
  const bool forgotten = is_forgotten(account, now);
  for (auto& its : account.calls) {
    if (its.call == CallKind::list_changes) continue;
    if (forgotten && (its.outage_since || its.limited_since)) its.deliveries.clear();
    std::erase_if(its.deliveries, [&](DeliveryId id) { return !at_work(id); });
    if (!its.deliveries.empty()) continue;
    its.outage_since.reset();
    // A limit of the platform holds to its end, though the deliveries that met it are gone.
    if (its.limited_until > now) continue;
    its.limited_since.reset();
    its.limited_until = {};
  }
  return tidied(std::move(account));
}

std::string_view trouble_name(const AccountTrouble& account) {
  if (in_outage(account)) return "outage";
  const bool limited =
      std::ranges::any_of(account.calls, [](const auto& call) { return call.limited_since.has_value(); });
  return limited ? "rate_limited" : "";
}

bool in_outage(const AccountTrouble& account) {
  return std::ranges::any_of(account.calls, is_outage);
}

std::vector<DeliveryId> failing_in_outage(const AccountTrouble& account) {
  std::vector<DeliveryId> all;
  for (const auto& its : account.calls) {
    if (!is_outage(its)) continue;
    for (const auto id : its.deliveries) {
      if (std::ranges::find(all, id) == all.end()) all.push_back(id);
    }
  }
  return all;
}

bool probe_takes_others(const AccountTrouble& account, Timestamp now) {
  return in_outage(account) && minutes_of_outage(account, now) % 2 == 0;
}

std::size_t turn_of_probe(const AccountTrouble& account, std::size_t of, Timestamp now) {
  return static_cast<std::size_t>(minutes_of_outage(account, now) / 2) % of;
}

Timestamp next_sweep_at(const AccountTrouble& account, Timestamp now) {
  Timestamp at = now;
  for (const auto& its : account.calls) {
    if (its.limited_since) at = std::max(at, its.limited_until);
  }
  return at;
}

Timestamp next_job_at(const AccountTrouble& account, Timestamp now) {
  const Timestamp at = next_sweep_at(account, now);
  return in_outage(account) ? std::max(at, account.probe_at) : at;
}

Timestamp sweep_again_at(const AccountTrouble& account, Timestamp now) {
  const auto its = std::ranges::find(account.calls, CallKind::list_changes, &CallTrouble::call);
  const bool failing = its != account.calls.end() && its->outage_since;
  const Millis failed_for = failing ? now - *its->outage_since : Millis{0};
  return std::max(now + std::clamp(failed_for, kProbeInterval, kRetryCeiling), next_sweep_at(account, now));
}

std::optional<Timestamp> given_up(const AccountTrouble& account, Timestamp now) {
  std::optional<Timestamp> first;
  for (const auto& its : account.calls) {
    if (its.call == CallKind::list_changes) continue;
    for (const auto& since : {its.outage_since, its.limited_since}) {
      if (since && now - *since >= kTroubleLimit && (!first || *since < *first)) first = since;
    }
  }
  return first;
}

bool lasts(const AccountTrouble& account, Timestamp since) {
  return std::ranges::any_of(account.calls, [&](const CallTrouble& its) {
    return its.call != CallKind::list_changes && (its.outage_since == since || its.limited_since == since);
  });
}

std::string encode(const AccountTrouble& account) {
  if (account == AccountTrouble{}) return {};
  std::string out = std::to_string(to_unix_ms(account.probe_at));
  for (const auto& its : account.calls) {
    out += fmt::format(";{} {} {} {}", to_string(its.call), ms_or_zero(its.outage_since),
                       ms_or_zero(its.limited_since), to_unix_ms(its.limited_until));
    for (const DeliveryId id : its.deliveries) out += fmt::format(" {}", id.value);
  }
  return out;
}

std::optional<AccountTrouble> decode_account_trouble(std::string_view text) {
  AccountTrouble account;
  if (text.empty()) return account;
  std::string_view rest = text;
  const auto probe_at = number(take(rest, ';'));
  if (!probe_at) return std::nullopt;
  account.probe_at = from_unix_ms(*probe_at);
  while (!rest.empty()) {
    auto its = decode_call(take(rest, ';'));
    if (!its || (!account.calls.empty() && account.calls.back().call >= its->call)) return std::nullopt;
    account.calls.push_back(*std::move(its));
  }
  // Nor other spellings of the same.
  if (tidied(account) != account || encode(account) != text) return std::nullopt;
  return account;
}

std::string encode(const FailingCalls& rows) {
  std::string out;
  for (const auto& row : rows) {
    if (!out.empty()) out += ';';
    out += fmt::format("{} {} {} {}", to_string(row.call), row.failures, to_unix_ms(row.since),
                       row.delivery.value);
  }
  return out;
}

std::optional<FailingCalls> decode_failing_calls(std::string_view text) {
  FailingCalls rows;
  std::string_view rest = text;
  while (!rest.empty()) {
    auto its = take(rest, ';');
    const auto call = parse_call_kind(take(its, ' '));
    const auto failures = number(take(its, ' '));
    const auto since = number(take(its, ' '));
    const auto delivery = number(its);
    if (!call || !failures || !since || !delivery) return std::nullopt;
    const DeliveryId id{*delivery};
    if (failing_row(rows, *call, id) ||
        !put_failing_row(
            rows, *call, id,
            FailingCall{.call = *call, .delivery = id, .failures = *failures, .since = from_unix_ms(*since)}))
      return std::nullopt;
  }
  return encode(rows) == text ? std::optional(std::move(rows)) : std::nullopt;
}

}  // namespace presetbridge::domain
