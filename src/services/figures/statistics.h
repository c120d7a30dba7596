// Figures over time (spec 6.4, 13.1), from the stored sums (storage/stores/activity_store.h):
// deliveries, how long they took, and what keys and stores use. Dry runs count in none. Deliveries that an
// older program has written count once housekeeping has added them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "domain/time_buckets.h"
#include "identity/principal.h"
#include "services/accounts/limited_requests.h"
#include "storage/commit/async_database.h"
#include "storage/stores/activity_store.h"

namespace presetbridge::services {

// Of deliveries by when they were made: what they are now.
struct Outcomes {
  std::int64_t made = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t invalidated = 0;
  // Queued, in progress, waiting for the customer, or in review.
  std::int64_t open() const { return made - completed - failed - invalidated; }
  // True: `kind` is one of theirs.
  bool add(std::int64_t kind, std::int64_t amount);
  bool operator==(const Outcomes&) const = default;
};
struct OutcomesOverTime {
  std::vector<Outcomes> data;  // of each of the period's hours or days
  Outcomes totals;
};

// Of deliveries by when they were completed.
struct Durations {
  // Half took no longer; within a class it is taken as even. Nothing: none was completed. `own`: without what
  // it waited for the customer or the merchant; of those of which that is known.
  std::optional<Millis> p50;
  std::optional<Millis> own_p50;
  std::vector<std::int64_t> classes;  // of storage::kTookUpToSeconds, and one more
};

struct Usage {
  std::int64_t requests = 0;
  std::int64_t limited = 0;
  Outcomes deliveries;
  bool operator==(const Usage&) const = default;
};
enum class UsageBy { none, key, store };
struct UsageOfOne {
  ApiKeyId key;               // none: without a key
  IntegrationId integration;  // none: of no store
  std::string name;
  Usage usage;
};
struct UsageOverTime {
  std::vector<Usage> data;
  Usage totals;
  std::vector<UsageOfOne> groups;  // who asked most first; empty unless asked for
  static constexpr std::size_t most_groups = 500;
};

// All stores of the account that the caller sees, or one of them.
struct StatisticsOf {
  std::optional<IntegrationId> integration;
  std::optional<ApiKeyId> key;
};

// Thread-safe.
class Statistics {
 public:
  // `limited` outlives this.
  Statistics(storage::AsyncDatabase& async_db, LimitedRequests& limited)
      : async_db_(async_db), limited_(limited) {}

  // A store that is not the caller's has no deliveries.
  Task<Expected<OutcomesOverTime>> deliveries(Executor& executor, identity::Principal by,
                                              domain::TimeBuckets period, StatisticsOf of);
  Task<Expected<Durations>> durations(Executor& executor, identity::Principal by, domain::TimeBuckets period,
                                      StatisticsOf of);
  // NOT_FOUND for a key that is not the account's.
  Task<Expected<UsageOverTime>> usage(Executor& executor, identity::Principal by, domain::TimeBuckets period,
                                      StatisticsOf of, UsageBy group_by);

 private:
  storage::AsyncDatabase& async_db_;
  LimitedRequests& limited_;
};

// Each sum of the period, with its place in it. Hours that were folded into days have none.
void each_sum(storage::Tx& tx, AccountId account, const domain::TimeBuckets& period, std::int64_t first_kind,
              std::int64_t last_kind,
              const std::function<void(std::size_t place, const storage::ActivitySum&)>& fn);

// The median of durations that are known by their classes.
std::optional<Millis> median_of_classes(const std::vector<std::int64_t>& classes);

}  // namespace presetbridge::services
