#include "services/figures/statistics.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "storage/stores/api_key_store.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using domain::TimeBuckets;
using identity::Principal;
using storage::Activity;
using storage::ActivitySum;
using storage::Tx;

constexpr std::int64_t number(Activity kind) {
  return static_cast<std::int64_t>(kind);
}

bool seen_and_selected(const Principal& by, const StatisticsOf& of, const ActivitySum& sum) {
  return (by.integrations.all() || by.sees(sum.of.integration)) &&
         of.integration.value_or(sum.of.integration) == sum.of.integration &&
         of.key.value_or(sum.of.key) == sum.of.key;
}

void add(Usage& usage, const ActivitySum& sum) {
  if (usage.deliveries.add(sum.kind, sum.amount)) return;
  if (sum.kind == number(Activity::requests)) usage.requests += sum.amount;
  if (sum.kind == number(Activity::limited)) usage.limited += sum.amount;
}

void name_groups(Tx& tx, AccountId account, std::vector<UsageOfOne>& groups) {
  for (auto& group : groups) {
    if (group.key) {
      if (const auto key = find_api_key(tx, account, group.key)) group.name = key->name;
    }
    if (!group.integration) continue;
    if (const auto store = find_integration(tx, group.integration)) group.name = store->name;
  }
}

}  // namespace

bool Outcomes::add(std::int64_t kind, std::int64_t amount) {
  switch (static_cast<Activity>(kind)) {
    case Activity::made:
      made += amount;
      return true;
    case Activity::completed:
      completed += amount;
      return true;
    case Activity::failed:
      failed += amount;
      return true;
    case Activity::invalidated:
      invalidated += amount;
      return true;
    default:
      return false;
  }
}

void each_sum(Tx& tx, AccountId account, const TimeBuckets& period, std::int64_t first_kind,
              std::int64_t last_kind, const std::function<void(std::size_t, const ActivitySum&)>& fn) {
  // A sum of a whole day belongs to no hour.
  const auto end_day = period.bucket() == domain::Bucket::day ? period.end_date() : period.first_date();
  find_activity(tx,
                {.account = account,
                 .from = period.begin(),
                 .to = period.end(),
                 .first_day = period.first_date(),
                 .end_day = end_day,
                 .first_kind = first_kind,
                 .last_kind = last_kind},
                [&](const ActivitySum& sum) {
                  const auto slot = sum.day ? period.of_date(std::chrono::floor<std::chrono::days>(sum.at))
                                            : period.of(sum.at);
                  if (slot) fn(*slot, sum);
                });
}

std::optional<Millis> median_of_classes(const std::vector<std::int64_t>& classes) {
  const std::int64_t total = std::accumulate(classes.begin(), classes.end(), std::int64_t{0});
  if (total <= 0) return std::nullopt;
  std::int64_t before = 0;
  for (std::size_t n = 0; n < classes.size(); ++n) {
    const std::int64_t here = classes[n];
    if (2 * (before + here) < total) {
      before += here;
      continue;
    }
    const std::int64_t low = n == 0 ? 0 : storage::kTookUpToSeconds[n - 1] * 1'000;
    // The last class has no end.
    if (n >= storage::kTookUpToSeconds.size()) return Millis{low};
    const std::int64_t width = storage::kTookUpToSeconds[n] * 1'000 - low;
    return Millis{low + width * (total - 2 * before) / (2 * here)};
  }
  return std::nullopt;
}

Task<Expected<OutcomesOverTime>> Statistics::deliveries(Executor& executor, Principal by, TimeBuckets period,
                                                        StatisticsOf of) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    OutcomesOverTime found{std::vector<Outcomes>(period.size()), {}};
    each_sum(tx, by.account, period, number(Activity::made), number(Activity::invalidated),
             [&](std::size_t slot, const ActivitySum& sum) {
               if (!seen_and_selected(by, of, sum)) return;
               found.data[slot].add(sum.kind, sum.amount);
               found.totals.add(sum.kind, sum.amount);
             });
    return found;
  });
}

Task<Expected<Durations>> Statistics::durations(Executor& executor, Principal by, TimeBuckets period,
                                                StatisticsOf of) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    Durations found;
    found.classes.resize(storage::kTookClasses);
    std::vector<std::int64_t> own(storage::kTookClasses);
    each_sum(tx, by.account, period, number(Activity::took), std::numeric_limits<std::int64_t>::max(),
             [&](std::size_t, const ActivitySum& sum) {
               const auto took = storage::took_of(sum.kind);
               if (!took || took->whole >= found.classes.size() || !seen_and_selected(by, of, sum)) return;
               found.classes[took->whole] += sum.amount;
               if (took->own < own.size()) own[took->own] += sum.amount;
             });
    found.p50 = median_of_classes(found.classes);
    found.own_p50 = median_of_classes(own);
    return found;
  });
}

Task<Expected<UsageOverTime>> Statistics::usage(Executor& executor, Principal by, TimeBuckets period,
                                                StatisticsOf of, UsageBy group_by) {
  co_await limited_.flush(executor);
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<UsageOverTime> {
    if (of.key && !find_api_key(tx, by.account, *of.key))
      return fail("NOT_FOUND", "There is no such API key.");
    UsageOverTime found{std::vector<Usage>(period.size()), {}, {}};
    std::map<std::pair<ApiKeyId, IntegrationId>, Usage> groups;
    each_sum(tx, by.account, period, number(Activity::requests), number(Activity::invalidated),
             [&](std::size_t slot, const ActivitySum& sum) {
               if (!seen_and_selected(by, of, sum)) return;
               add(found.data[slot], sum);
               add(found.totals, sum);
               if (group_by == UsageBy::key) add(groups[{sum.of.key, {}}], sum);
               if (group_by == UsageBy::store) add(groups[{{}, sum.of.integration}], sum);
             });
    for (const auto& [pair, usage] : groups) found.groups.push_back({pair.first, pair.second, {}, usage});
    std::ranges::sort(found.groups, std::greater{}, [](const UsageOfOne& one) {
      return std::tuple(one.usage.requests, one.usage.deliveries.made, one.key, one.integration);
    });
    if (found.groups.size() > UsageOverTime::most_groups) found.groups.resize(UsageOverTime::most_groups);
    name_groups(tx, by.account, found.groups);
    return found;
  });
}

}  // namespace presetbridge::services
