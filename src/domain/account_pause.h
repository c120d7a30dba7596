// Trouble of a whole cloud account or of the platform, kept apart from trouble of one delivery (spec 3.5).
// While an account is paused its deliveries lose no tries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace presetbridge::domain {

enum class PauseReason { none, rate_limited, outage, login_refused };
std::string_view to_string(PauseReason reason);  // "" for none

// A value; every function below gives the next one. A new account's is AccountPause{}.
struct AccountPause {
  PauseReason reason = PauseReason::none;
  Timestamp until{};  // no job before it; means nothing for none and login_refused
  Timestamp since{};  // when the trouble began; means nothing for none without failing deliveries
  std::vector<DeliveryId> failing;  // different deliveries that failed in a row: 3 make an outage; at most 3
  bool operator==(const AccountPause&) const = default;
};

// A job of `delivery` ended in a transient failure. A second failure of the same delivery is not a second
// delivery.
AccountPause after_transient_failure(AccountPause pause, DeliveryId delivery, Timestamp now);
// 429. Without Retry-After one minute; a longer one than a day counts as a day.
AccountPause after_rate_limit(AccountPause pause, std::optional<Millis> retry_after, Timestamp now);
// Lasts until credentials are saved.
AccountPause after_login_refused(AccountPause pause, Timestamp now);
AccountPause after_credentials_saved(AccountPause pause);
// Any answered cloud call of a job: clears all but a refused login, which only saved credentials clear.
AccountPause after_success(AccountPause pause);
// A job is about to start during an outage: it is the probe of this minute.
AccountPause after_probe_started(AccountPause pause, Timestamp now);

bool paused(const AccountPause& pause, Timestamp now);  // no job may start
// When a job may start next: `now` or later; nothing: not by waiting (login refused).
std::optional<Timestamp> next_job_at(const AccountPause& pause, Timestamp now);
// 72 h of trouble: its waiting work fails as cloud_unavailable, which the next success resumes.
bool given_up(const AccountPause& pause, Timestamp now);

// One short text column; decode gives nothing for what encode did not make.
std::string encode(const AccountPause& pause);
std::optional<AccountPause> decode_account_pause(std::string_view text);

}  // namespace presetbridge::domain
