#include "storage/stores/activity_store.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/id_time.h"
#include "storage/columns.h"
#include "storage/stores/delivery_customers.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using std::chrono::days;
using std::chrono::floor;

constexpr std::int64_t kOwnClasses = 64;

constexpr Tally kActivity{
    {"INSERT INTO activity (quarter, account_id, kind, integration_id, api_key_id, lane, amount)"
     " VALUES ($1, $2, $3, $4, $5, <lane>, $6)"
     " ON CONFLICT (quarter, account_id, kind, integration_id, api_key_id, lane)"
     " DO UPDATE SET amount = activity.amount + excluded.amount"}};
// A search in the primary key for each quarter.
constexpr Sql kFind{
    "WITH RECURSIVE quarters (at) AS (SELECT CAST($2 AS BIGINT) UNION ALL"
    " SELECT at + 900000 FROM quarters WHERE at + 900000 < $3)"
    " SELECT activity.quarter, activity.kind, activity.integration_id, activity.api_key_id, activity.amount"
    " FROM quarters CROSS JOIN activity WHERE activity.quarter = quarters.at AND activity.account_id = $1"
    " AND activity.kind >= $4 AND activity.kind <= $5"};
constexpr Sql kFindDays{
    "SELECT day, kind, integration_id, api_key_id, amount FROM activity_days WHERE account_id = $1"
    " AND day >= $2 AND day < $3 AND kind >= $4 AND kind <= $5"};
constexpr Sql kFirstMade{
    "SELECT id FROM deliveries WHERE (account_id, id) > ($1, 0) AND account_id <= $1"
    " ORDER BY account_id, id LIMIT 1"};

constexpr Sql kToFold{
    "SELECT quarter, account_id, kind, integration_id, api_key_id, lane, amount FROM activity"
    " WHERE quarter < $1 ORDER BY quarter, account_id, kind, integration_id, api_key_id, lane LIMIT $2"
    " <for_update>"};
constexpr Sql kAddDay{
    "INSERT INTO activity_days (account_id, day, kind, integration_id, api_key_id, amount)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, day, kind, integration_id, api_key_id)"
    " DO UPDATE SET amount = activity_days.amount + excluded.amount"};
constexpr Sql kDeleteQuarter{
    "DELETE FROM activity WHERE quarter = $1 AND account_id = $2 AND kind = $3 AND integration_id = $4"
    " AND api_key_id = $5 AND lane = $6"};

constexpr Sql kUncounted{
    "SELECT id FROM deliveries WHERE counted_version <> version AND id > $1 ORDER BY id LIMIT $2"};
constexpr Sql kLockUncounted{
    "SELECT account_id, integration_id, api_key_id, status, dry_run, created_at, updated_at, completed_at,"
    " counted_status, counted_since, worked_ms FROM deliveries WHERE id = $1 AND counted_version <> version"
    " <for_update>"};
constexpr Sql kCounted{
    "UPDATE deliveries SET counted_status = $2, counted_since = $3, worked_ms = NULL, counted_version ="
    " version WHERE id = $1"};

// Adds `amount`, which may be negative, to the sums that count the end of the delivery.
void count_end(Tx& tx, const ActivityOf& of, Timestamp made, const CountedDelivery& c, std::int64_t amount) {
  const ActivityOf store{of.account, of.integration, {}};
  switch (c.status) {
    case DeliveryStatus::completed: {
      count_activity(tx, of, Activity::completed, amount, made);
      const auto kind =
          took_kind(took_class(c.since - made), c.worked ? took_class(*c.worked) : kTookUnknown);
      count_activity(tx, store, Activity{kind}, amount, c.since);
      break;
    }
    case DeliveryStatus::failed:
      count_activity(tx, of, Activity::failed, amount, made);
      count_activity(tx, store, Activity::came_to_fail, amount, c.since);
      break;
    case DeliveryStatus::invalidated:
      count_activity(tx, of, Activity::invalidated, amount, made);
      break;
    case DeliveryStatus::queued:
    case DeliveryStatus::processing:
    case DeliveryStatus::waiting_for_friendship:
    case DeliveryStatus::in_review:
      break;
  }
}

}  // namespace

Timestamp quarter_of(Timestamp at) {
  return Timestamp{floor<std::chrono::duration<std::int64_t, std::ratio<900>>>(at.time_since_epoch())};
}

std::size_t took_class(Millis took) {
  const auto* const end = std::ranges::lower_bound(
      kTookUpToSeconds, took, {}, [](std::int64_t seconds) { return Millis{1000 * seconds}; });
  return static_cast<std::size_t>(end - kTookUpToSeconds.begin());
}

std::int64_t took_kind(std::size_t whole, std::size_t own) {
  return static_cast<std::int64_t>(Activity::took) + static_cast<std::int64_t>(whole) * kOwnClasses +
         static_cast<std::int64_t>(own);
}

std::optional<Took> took_of(std::int64_t kind) {
  const std::int64_t code = kind - static_cast<std::int64_t>(Activity::took);
  if (code < 0) return std::nullopt;
  return Took{static_cast<std::size_t>(code / kOwnClasses), static_cast<std::size_t>(code % kOwnClasses)};
}

CountedDelivery counted_after(const std::optional<CountedDelivery>& before, DeliveryStatus status,
                              Timestamp now) {
  if (!before) return {.status = status, .since = now, .worked = Millis{0}};
  CountedDelivery after{.status = status, .since = now, .worked = before->worked};
  if (!before->current) after.worked.reset();
  const bool own = before->status == DeliveryStatus::queued || before->status == DeliveryStatus::processing;
  if (own && after.worked) *after.worked += std::max(Millis{0}, now - before->since);
  return after;
}

void count_delivery(Tx& tx, const ActivityOf& of, Timestamp made,
                    const std::optional<CountedDelivery>& before, const CountedDelivery& after) {
  if (before) {
    count_end(tx, of, made, *before, -1);
  } else {
    count_activity(tx, of, Activity::made, 1, made);
  }
  count_end(tx, of, made, after, 1);
}

void count_activity(Tx& tx, const ActivityOf& of, Activity kind, std::int64_t amount, Timestamp at) {
  tx.add(kActivity,
         {to_unix_ms(quarter_of(at)), of.account.value, static_cast<std::int64_t>(kind), of.integration.value,
          of.key.value},
         amount);
}

void find_activity(Tx& tx, const ActivityRange& range, const std::function<void(const ActivitySum&)>& fn) {
  const auto sum = [&](const Row& r, bool day) {
    fn({.at = r.time(0),
        .day = day,
        .of = {range.account, r.id<IntegrationId>(2), r.id<ApiKeyId>(3)},
        .kind = r.int64(1),
        .amount = r.int64(4)});
  };
  const auto from = std::max(range.from, quarter_of(tx.now() - kQuartersScanned));
  // Nothing was counted after now.
  const auto to = std::min(range.to, quarter_of(tx.now() + days{1}));
  if (from < to) {
    tx.query(kFind, range.account, from, to, range.first_kind, range.last_kind,
             [&](const Row& r) { sum(r, false); });
  }
  tx.query(kFindDays, range.account, Timestamp{range.first_day}, Timestamp{range.end_day}, range.first_kind,
           range.last_kind, [&](const Row& r) { sum(r, true); });
}

std::optional<Timestamp> first_delivery_made(Tx& tx, AccountId account) {
  return tx.one(kFirstMade, account, [](const Row& r) { return made_at(r.int64(0)); });
}

std::int64_t fold_activity(Tx& tx, Timestamp before, int limit) {
  using Day = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Day, std::int64_t> sums;
  std::vector<Param> quarters;
  std::int64_t rows = 0;
  tx.query(kToFold, before, limit, [&](const Row& r) {
    const auto day = to_unix_ms(floor<days>(r.time(0)));
    sums[{r.int64(1), day, r.int64(2), r.int64(3), r.int64(4)}] += r.int64(6);
    for (const int column : {0, 1, 2, 3, 4, 5}) quarters.emplace_back(r.int64(column));
    ++rows;
  });
  std::vector<Param> flat;
  for (const auto& [key, amount] : sums) {
    const auto& [account, day, kind, integration, api_key] = key;
    flat.insert(flat.end(), {account, day, kind, integration, api_key, amount});
  }
  if (!flat.empty()) tx.exec_many(kAddDay, 6, flat);
  if (!quarters.empty()) tx.exec_many(kDeleteQuarter, 6, quarters);
  return rows;
}

CountedBatch count_deliveries_of_before(Tx& tx, std::int64_t after, int limit) {
  std::vector<DeliveryId> ids;
  tx.query(kUncounted, after, limit, [&](const Row& r) { ids.push_back(r.id<DeliveryId>(0)); });
  CountedBatch batch{.deliveries = std::ssize(ids), .next = std::nullopt};
  if (std::ssize(ids) == limit) batch.next = ids.back().value;
  hold_customers_of(tx, ids);
  std::vector<Param> flat;
  tx.query_each(
      kLockUncounted, 1, params_of(std::span<const DeliveryId>(ids)), [&](std::size_t n, const Row& r) {
        const auto status = parsed<DeliveryStatus>(r.text(3), domain::parse_delivery_status);
        std::optional<CountedDelivery> before;
        if (!r.is_null(8)) {
          before = {.status = parsed<DeliveryStatus>(r.text(8), domain::parse_delivery_status),
                    .since = r.time(9),
                    .worked = {}};
          if (!r.is_null(10)) before->worked = Millis{r.int64(10)};
        }
        const auto since = status == DeliveryStatus::completed ? r.time(7) : r.time(6);
        const CountedDelivery now{.status = status, .since = since, .worked = std::nullopt};
        if (!r.flag(4)) {
          count_delivery(tx, {r.id<AccountId>(0), r.id<IntegrationId>(1), r.id_or_none<ApiKeyId>(2)},
                         r.time(5), before, now);
        }
        flat.insert(flat.end(), {ids[n], domain::to_string(status), since});
      });
  tx.update_each(kCounted, 3, flat);
  return batch;
}

}  // namespace presetbridge::storage
