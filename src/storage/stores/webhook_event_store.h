// Outbound events as they stand with one subscription (spec 9.5): found by an index or among a bounded
// number of the newest; made due again one by one, or, of those that failed, all in batches. dispatch_store.h
// dispatches them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::storage {

enum class SentStatus {
  succeeded,
  waiting,    // for its first or next delivery attempt, or for the answer to one
  exhausted,  // after the last retry
  permanent   // an answer or an address that no retry would mend
};

struct SentEventRow {
  std::int64_t dispatch = 0;
  EventId event;
  std::string uuid;
  std::string type;
  DeliveryId delivery;       // none: the event is of no delivery
  std::string order_key;     // empty: likewise
  std::string order_number;  // for people; empty: unknown
  Timestamp created_at;
  SentStatus status = SentStatus::waiting;
  bool under_way = false;  // an attempt is made now
  std::int64_t attempts = 0;
  Timestamp due_at;  // of the next attempt, when waiting
  std::optional<Timestamp> last_attempt_at;
  std::optional<std::int64_t> last_status_code;
  std::string last_outcome;
};

struct SentEventFilter {
  std::optional<SentStatus> status;
  std::string type;               // empty: any
  DeliveryId delivery;            // none: any
  std::string order;              // the store's id of the order, or the number people see; empty: any
  std::optional<Timestamp> from;  // created at or after
  std::optional<Timestamp> to;    // created before
  std::vector<IntegrationId> integrations = {};  // as is_of(); empty: any, and those of no integration
};

// Newest first; PageRequest::before is the number of an event. By `delivery` alone, and by a status that no
// more than kFewDispatches have, all are found; any other filter is checked on the newest kSentScanLimit:
// such a page may have fewer rows than its limit, or none, and still have a next one.
inline constexpr int kSentScanLimit = 5'000;
inline constexpr int kFewDispatches = 1'000;
Page<SentEventRow> list_sent_events(Tx& tx, SubscriptionId subscription, const SentEventFilter& filter,
                                    const PageRequest& page);

std::optional<SentEventRow> find_sent_event(Tx& tx, SubscriptionId subscription, EventId event);
// Whether the event concerns one of the integrations, or is a test of its subscription.
bool is_of(Tx& tx, const SentEventRow& row, std::span<const IntegrationId> integrations);
// An event of an older program, whose UUID does not contain its id.
std::optional<EventId> find_event_of_before(Tx& tx, std::string_view uuid);
std::string find_event_body(Tx& tx, EventId event);
// The newest delivery attempts of this dispatch, oldest first.
inline constexpr int kAttemptsOfDispatch = 100;
std::vector<AttemptRow> attempts_of_dispatch(Tx& tx, std::int64_t dispatch);

// Makes it due at once, with all its attempts again, whatever its status. False: an attempt is under way.
bool send_again(Tx& tx, SubscriptionId subscription, std::int64_t dispatch);

// The number of dispatches that failed for good in [since, before), at most `most`.
std::int64_t count_failed_dispatches(Tx& tx, SubscriptionId subscription, Timestamp since, Timestamp before,
                                     int most);
// recover_failed_dispatches() is to make these due again. A recovery that is under way takes them over.
void begin_recovery(Tx& tx, SubscriptionId subscription, Timestamp since, Timestamp before);
bool any_recovery(Tx& tx);
// One batch of the next recovery, of a subscription with an id after `after` (none: of the first): at most
// `limit` dispatches, those that failed first. A dispatch that was made due is not a failed one any more,
// so the next batch finds others. The recovery does not include those that failed after it began.
struct RecoveryBatch {
  SubscriptionId subscription;
  int dispatches = 0;
};
std::optional<RecoveryBatch> recover_failed_dispatches(Tx& tx, SubscriptionId after, int limit);

}  // namespace presetbridge::storage
