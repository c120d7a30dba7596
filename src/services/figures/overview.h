// The first page of a merchant (spec 13.1): tasks, the figures of today, and the current state. Each part is
// of a bounded cost: counts by index up to a limit, and stored sums (storage/stores/activity_store.h).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "base/time_zone.h"
#include "identity/principal.h"
#include "services/delivery/view.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

enum class NeedKind {
  login_missing,
  login_invalid,
  intake_refused,  // a store's orders are refused, and none came in since
  intake_silent,   // a store has sent nothing for three times its usual gap
  credits_out,
  debt,
  failed,  // by resolution code, without those that another need reports
  review,
  receiver_off,
  receiver_failing,
  unmapped,  // products of a store without a mapping
  stale,     // mappings of a store that were made for another cloud user
  privacy_request,
  credits_low
};
inline constexpr std::array<std::string_view, 14> kNeedKindNames = {
    "login_missing", "login_invalid", "intake_refused",  "intake_silent", "credits_out",
    "debt",          "failed",        "review",          "receiver_off",  "receiver_failing",
    "unmapped",      "stale",         "privacy_request", "credits_low"};

// A delivery counts in one at most.
struct Need {
  NeedKind kind{};
  std::string code = {};   // of a resolution, or of what was refused; empty: none
  std::int64_t count = 0;  // of deliveries, orders, credits, products, … as its kind says
  std::optional<Timestamp> oldest_at = {};
  IntegrationId integration = {};  // none: of no store
  SubscriptionId subscription = {};
  std::string detail = {};  // a sentence; may be empty
};

struct StoreGlance {
  IntegrationId id;
  std::string name;
  std::optional<Timestamp> last_order_at;
  std::int64_t failed = 0;
  std::int64_t waiting = 0;
  std::int64_t unmapped_products = 0;
};

// The days before today with which today is compared.
inline constexpr std::chrono::days kUsualDays{28};

struct Overview {
  Timestamp as_of;
  std::vector<Need> needs;  // most urgent first
  struct Today {
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    // The median, over the kUsualDays before, of the part of the day up to this time; nothing: there are
    // fewer than seven such days.
    std::optional<std::int64_t> usual_completed;
    std::optional<std::int64_t> usual_failed;
  } today;
  struct Now {
    std::int64_t queued = 0;
    std::int64_t processing = 0;
    std::int64_t waiting = 0;
    std::int64_t in_review = 0;
    std::optional<Timestamp> oldest_waiting_at;
  } now;
  struct Limit {
    std::optional<std::int64_t> per_minute;  // nothing: no limit
    std::int64_t used_last_60s = 0;
    std::optional<Timestamp> next_start_at;  // while something is queued
    std::string paused_reason;               // outage, rate_limited; empty: it is not
    std::optional<Timestamp> paused_until;
  } limit;
  struct Credits {
    std::int64_t available = 0;
    std::int64_t held = 0;
    std::int64_t per_day_hundredths = 0;  // credit_pace.h
    std::optional<Timestamp> runs_out_at;
  } credits;
  struct Setup {
    bool cloud = false;
    bool store = false;
    bool first_order = false;
    bool mapping = false;
    bool test_order = false;
    bool first_delivery = false;
  } setup;
  std::vector<DeliverySummary> recent;  // the five newest
  std::vector<StoreGlance> stores;
};

// Thread-safe.
class Overviews {
 public:
  struct Options {
    int jobs_per_minute = 5;           // of a cloud account; 0: no limit
    std::int64_t credits_low_at = 10;  // of accounts that have set nothing else
  };
  Overviews(storage::AsyncDatabase& async_db, Options options) : async_db_(async_db), options_(options) {}

  // The calendar day is that of `zone`. With a store all that is a store's is of that one alone. NOT_FOUND:
  // it is not the account's.
  Task<Expected<Overview>> get(Executor& executor, identity::Principal by, TimeZone zone,
                               std::optional<IntegrationId> store);

 private:
  storage::AsyncDatabase& async_db_;
  const Options options_;
};

}  // namespace presetbridge::services
