// Sums of what happened, by the quarter of an hour (spec 6.4, 13.1), kept for statistics: each is written in
// the transaction of what it counts. Of deliveries insert_deliveries() and update_deliveries() keep them, so
// that at any commit they are what a look at all deliveries would count, without dry runs.
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

// What is counted. Numbers are stored.
enum class Activity : std::int64_t {
  requests = 0,  // of a key, or order webhooks of a store that were taken in
  limited = 1,   // requests of a key that were over its limit
  // Deliveries by when they were made: all of them, and what they are now.
  made = 2,
  completed = 3,
  failed = 4,
  invalidated = 5,
  // Those that are failed now, by when they failed.
  came_to_fail = 6,
  // From here on: those that are completed now, by when they were, and how long it took (took_kind()).
  took = 1'000,
};

// Upper ends of the classes of durations; the last class, kTookClasses - 1, has none.
inline constexpr std::array<std::int64_t, 24> kTookUpToSeconds = {
    1,     2,     5,      10,     20,     30,     60,      120,     300,     600,     1'200,     1'800,
    3'600, 7'200, 14'400, 28'800, 43'200, 86'400, 172'800, 259'200, 432'000, 604'800, 1'209'600, 2'592'000};
inline constexpr std::size_t kTookClasses = kTookUpToSeconds.size() + 1;
inline constexpr std::size_t kTookUnknown = 63;
std::size_t took_class(Millis took);
// `whole`: from its making to its completion; `own`: of that what it was queued or worked on, kTookUnknown
// where a program of before has written it.
std::int64_t took_kind(std::size_t whole, std::size_t own);
struct Took {
  std::size_t whole = 0;
  std::size_t own = 0;
};
std::optional<Took> took_of(std::int64_t kind);

// As what a delivery is counted.
struct CountedDelivery {
  domain::DeliveryStatus status{};
  Timestamp since;
  std::optional<Millis> worked;  // queued or worked on before; nothing: not known
  bool current = true;           // false: a program of before has written the row since
};
// Whose it is counted.
struct ActivityOf {
  AccountId account;
  IntegrationId integration;
  ApiKeyId key;
};
// The delivery was counted as `before`, or not yet, and is as `after` from now on. The transaction's sums are
// written when it ends.
void count_delivery(Tx& tx, const ActivityOf& of, Timestamp made,
                    const std::optional<CountedDelivery>& before, const CountedDelivery& after);
// As what it is counted once it has come from `before` (nothing: it is new) to `status`, at `now`.
CountedDelivery counted_after(const std::optional<CountedDelivery>& before, domain::DeliveryStatus status,
                              Timestamp now);
void count_activity(Tx& tx, const ActivityOf& of, Activity kind, std::int64_t amount, Timestamp at);

// One sum. `at`: the quarter's beginning, or a whole day's (UTC) of those that are long past.
struct ActivitySum {
  Timestamp at;
  bool day = false;
  ActivityOf of;
  std::int64_t kind = 0;
  std::int64_t amount = 0;
};
struct ActivityRange {
  AccountId account;
  // Both multiples of kQuarter: from there on, to before there.
  Timestamp from;
  Timestamp to;
  // Of what is told of by days (UTC), likewise: where `from` and `to` are midnights of a zone, their dates
  // there.
  std::chrono::sys_days first_day;
  std::chrono::sys_days end_day;
  std::int64_t first_kind = 0;
  std::int64_t last_kind = std::numeric_limits<std::int64_t>::max();
};
// Quarters are looked for this long before now at most; what is older is told of by days.
inline constexpr Millis kQuartersLookedFor = std::chrono::days{100};
// Each sum of the range, in no order; of one row of deliveries there may be several. Costs a look for each
// quarter of the range, at most 9,600, and what there is.
void find_activity(Tx& tx, const ActivityRange& range, const std::function<void(const ActivitySum&)>& fn);
// When the account's first delivery was made; nothing: it has none.
std::optional<Timestamp> first_delivery_made(Tx& tx, AccountId account);

// Moves quarters that ended before `before`, a beginning of a day (UTC), to their days: at most `limit` rows;
// returns how many.
std::int64_t fold_activity(Tx& tx, Timestamp before, int limit);
// Counts deliveries that a program of before has written last: at most `limit`, of those after `after`; tells
// where to go on, nothing when there are no more.
struct CountedPiece {
  std::int64_t deliveries = 0;
  std::optional<std::int64_t> next;
};
CountedPiece count_deliveries_of_before(Tx& tx, std::int64_t after, int limit);

}  // namespace presetbridge::storage
