#include "api/handlers/statistics_handlers.h"

#include <fmt/format.h>

#include <array>

#include "api/optional_json.h"
#include "api/query_fields.h"
#include "api/zone_field.h"

namespace presetbridge::api {
namespace {

using domain::Bucket;
using domain::TimeBuckets;
using services::StatisticsOf;
using services::UsageBy;
using std::chrono::days;

constexpr std::array<std::string_view, 2> kBuckets = {"hour", "day"};
constexpr std::array<std::string_view, 2> kGroups = {"key", "integration"};
constexpr Millis kUsualPeriod = days{30};
constexpr Millis kUsualHours = days{1};
constexpr Millis kLongest = days{400};
constexpr Millis kLongestOfHours = days{8};

// From `from` to before `to`, as the hours or days that it touches. Problems are reported to `query`, and
// then this is some period.
TimeBuckets read_period(const StatisticsDeps& deps, QueryFields& query, std::optional<Bucket> only = {}) {
  const auto now = deps.clock.now();
  const auto zone = read_zone(query);
  Bucket bucket = Bucket::day;
  if (only) {
    bucket = *only;
  } else if (query.optional_choice("bucket", kBuckets) == "hour") {
    bucket = Bucket::hour;
  }
  const bool hours = bucket == Bucket::hour;
  const auto to = query.optional_time("to").value_or(now);
  const auto from = query.optional_time("from").value_or(to - (hours ? kUsualHours : kUsualPeriod));
  const TimeBuckets none(TimeZone(), Bucket::day, now, now);
  if (from >= to) {
    query.problem("from", "must be before `to`");
    return none;
  }
  if (to - from > (hours ? kLongestOfHours : kLongest)) {
    query.problem("from", hours ? "must be 8 days at most before `to`, by the hour"
                                : "must be 400 days at most before `to`");
    return none;
  }
  if (hours && from < now - deps.usage_by_hour) {
    query.problem("from", fmt::format("must be of the last {} days: older usage is stored by the day",
                                      std::chrono::floor<days>(deps.usage_by_hour).count()));
    return none;
  }
  return {zone, bucket, from, to};
}

json::object to_json(const services::Outcomes& o) {
  return {{"made", o.made},
          {"completed", o.completed},
          {"failed", o.failed},
          {"invalidated", o.invalidated},
          {"open", o.open()}};
}

Task<Reply> deliveries(StatisticsDeps deps, Call call) {
  QueryFields query(call);
  auto period = read_period(deps, query);
  const StatisticsOf of{.integration = query.optional_id<IntegrationId>("integrationId"), .key = {}};
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.statistics.deliveries(call.executor(), call.principal, period, of);
  if (!found) co_return std::unexpected(found.error());
  json::array data;
  for (std::size_t n = 0; n < found->data.size(); ++n) {
    auto one = to_json(found->data[n]);
    one["at"] = to_iso8601(period.begin(n));
    data.push_back(std::move(one));
  }
  co_return json_response(200, json::object{{"data", std::move(data)}, {"totals", to_json(found->totals)}});
}

json::value millis_or_null(std::optional<Millis> millis) {
  return millis ? json::value(std::int64_t{millis->count()}) : json::value(nullptr);
}

Task<Reply> durations(StatisticsDeps deps, Call call) {
  QueryFields query(call);
  const auto period = read_period(deps, query, Bucket::day);
  const StatisticsOf of{.integration = query.optional_id<IntegrationId>("integrationId"), .key = {}};
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.statistics.durations(call.executor(), call.principal, period, of);
  if (!found) co_return std::unexpected(found.error());
  json::array buckets;
  for (std::size_t n = 0; n < found->classes.size(); ++n) {
    json::value up_to = nullptr;
    if (n < storage::kTookUpToSeconds.size()) up_to = storage::kTookUpToSeconds[n];
    buckets.push_back(json::object{{"upToSeconds", std::move(up_to)}, {"count", found->classes[n]}});
  }
  co_return json_response(200, json::object{{"p50Ms", millis_or_null(found->p50)},
                                            {"ownP50Ms", millis_or_null(found->own_p50)},
                                            {"buckets", std::move(buckets)}});
}

json::object to_json(const services::Usage& usage) {
  return {
      {"requests", usage.requests}, {"limited", usage.limited}, {"deliveries", to_json(usage.deliveries)}};
}

json::object to_json(const TimeBuckets& period, const services::UsageOverTime& usage) {
  json::array data;
  for (std::size_t n = 0; n < usage.data.size(); ++n) {
    auto one = to_json(usage.data[n]);
    one["at"] = to_iso8601(period.begin(n));
    data.push_back(std::move(one));
  }
  return {{"data", std::move(data)}, {"totals", to_json(usage.totals)}};
}

Task<Reply> usage(StatisticsDeps deps, Call call) {
  QueryFields query(call);
  const auto period = read_period(deps, query);
  const StatisticsOf of{.integration = query.optional_id<IntegrationId>("integrationId"), .key = {}};
  const auto group = query.optional_choice("groupBy", kGroups);
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto by = !group ? UsageBy::none : *group == "key" ? UsageBy::key : UsageBy::store;
  const auto found = co_await deps.statistics.usage(call.executor(), call.principal, period, of, by);
  if (!found) co_return std::unexpected(found.error());
  auto body = to_json(period, *found);
  json::array groups;
  for (const auto& one : found->groups) {
    auto group_json = to_json(one.usage);
    group_json["keyId"] = id_or_null(one.key);
    group_json["integrationId"] = id_or_null(one.integration);
    group_json["name"] = text_or_null(one.name);
    groups.push_back(std::move(group_json));
  }
  body["groups"] = std::move(groups);
  co_return json_response(200, body);
}

Task<Reply> usage_of_key(StatisticsDeps deps, Call call) {
  const auto id = call.id<ApiKeyId>("key");
  if (!id) co_return std::unexpected(id.error());
  QueryFields query(call);
  const auto period = read_period(deps, query);
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.statistics.usage(call.executor(), call.principal, period,
                                                    {.integration = {}, .key = *id}, UsageBy::none);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(period, *found));
}

}  // namespace

void add_statistics_routes(Router& router, StatisticsDeps deps) {
  const auto readers = Access::needs(Permission::deliveries_read);
  const auto people = Access::needs(Permission::account);
  router.add("GET", "/api/stats/deliveries", readers, with(deps, deliveries));
  router.add("GET", "/api/stats/durations", readers, with(deps, durations));
  router.add("GET", "/api/usage", people, with(deps, usage));
  router.add("GET", "/api/keys/{key}/usage", people, with(deps, usage_of_key));
}

}  // namespace presetbridge::api
