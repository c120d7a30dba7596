// Sums for statistics, by the quarter of an hour (spec 6.4, 13.1). A sum is written in the transaction of
// the change that it counts. insert_deliveries() and update_deliveries() write those of deliveries, so that
// after each commit they equal a count over all deliveries but dry runs.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Every offset from UTC that is in use is a multiple of it.
inline constexpr Millis kQuarter = std::chrono::minutes{15};
Timestamp quarter_of(Timestamp at);

// The kinds of sums. The numbers are stored.
enum class Activity : std::int64_t {
  requests = 0,  // of a key, or webhooks of a store that were taken in
  limited = 1,   // requests of a key that were over its limit
  // Deliveries by the time at which they were made: all of them, and by their status now.
  made = 2,
  completed = 3,
  failed = 4,
  invalidated = 5,
  // Deliveries that are failed now, by the time at which they failed.
  came_to_fail = 6,
  // From here on: deliveries that are completed now, by the time at which they were completed and by how
  // long it took (took_kind()).
  took = 1'000,
};

// Upper ends of the classes of durations; the last class, kTookClasses - 1, has none.
inline constexpr std::array<std::int64_t, 24> kTookUpToSeconds = {
    1,     2,     5,      10,     20,     30,     60,      120,     300,     600,     1'200,     1'800,
    3'600, 7'200, 14'400, 28'800, 43'200, 86'400, 172'800, 259'200, 432'000, 604'800, 1'209'600, 2'592'000};
inline constexpr std::size_t kTookClasses = kTookUpToSeconds.size() + 1;
inline constexpr std::size_t kTookUnknown = 63;
std::size_t took_class(Millis took);
// `whole` is the class of the time from creation to completion; `own` that of the part of it in which the
// delivery was queued or worked on, kTookUnknown where an older program has written the row.
std::int64_t took_kind(std::size_t whole, std::size_t own);
struct Took {
  std::size_t whole = 0;
  std::size_t own = 0;
};
std::optional<Took> took_of(std::int64_t kind);

// How the sums count a delivery.
struct CountedDelivery {
  domain::DeliveryStatus status{};
  Timestamp since;
  std::optional<Millis> worked;  // queued or worked on before; nothing: not known
  bool current = true;           // false: an older program has written the row since
};
// To whom a sum belongs.
struct ActivityOf {
  AccountId account;
  IntegrationId integration;
  ApiKeyId key;
};
// The sums count the delivery as `after` from now on, and no longer as `before` (nothing: it was not
// counted). They are written when the transaction ends.
void count_delivery(Tx& tx, const ActivityOf& of, Timestamp made,
                    const std::optional<CountedDelivery>& before, const CountedDelivery& after);
// How a delivery is counted once it has gone from `before` (nothing: it is new) to `status`, at `now`.
CountedDelivery counted_after(const std::optional<CountedDelivery>& before, domain::DeliveryStatus status,
                              Timestamp now);
void count_activity(Tx& tx, const ActivityOf& of, Activity kind, std::int64_t amount, Timestamp at);

// One sum. `at` is the beginning of the quarter, or, where `day` is set, of a day (UTC) whose quarters were
// folded.
struct ActivitySum {
  Timestamp at;
  bool day = false;
  ActivityOf of;
  std::int64_t kind = 0;
  std::int64_t amount = 0;
};
struct ActivityRange {
  AccountId account;
  // Half open; both are multiples of kQuarter.
  Timestamp from;
  Timestamp to;
  // The range of sums by the day (UTC), half open too. Where `from` and `to` are midnights of a zone, these
  // are their dates there.
  std::chrono::sys_days first_day;
  std::chrono::sys_days end_day;
  std::int64_t first_kind = 0;
  std::int64_t last_kind = std::numeric_limits<std::int64_t>::max();
};
// Quarters are searched this far back from now at most; older sums are found by the day. The setting
// retention.usage_days is lower (app/config/retention_options.h), so that older quarters are folded by then.
inline constexpr Millis kQuartersScanned = std::chrono::days{100};
// Calls `fn` for each sum of the range, in no order; a key may have several sums. It costs a search in an
// index for each quarter of the range, at most 9,600, and the rows that it finds.
void find_activity(Tx& tx, const ActivityRange& range, const std::function<void(const ActivitySum&)>& fn);
// When the account's first delivery was made; nothing: it has none.
std::optional<Timestamp> first_delivery_made(Tx& tx, AccountId account);

// Folds quarters that ended before `before`, a beginning of a day (UTC), into the sums of their days: at
// most `limit` rows; returns how many.
std::int64_t fold_activity(Tx& tx, Timestamp before, int limit);
// Counts deliveries that an older program wrote last: at most `limit`, with ids after `after`. `next` is
// the `after` of the next call; nothing: there are no more.
struct CountedBatch {
  std::int64_t deliveries = 0;
  std::optional<std::int64_t> next;
};
CountedBatch count_deliveries_of_before(Tx& tx, std::int64_t after, int limit);

}  // namespace presetbridge::storage
