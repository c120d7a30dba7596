// The events of a subscription, and its owner's actions on them (spec 9.5): find one, send one again, recover
// all that failed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"
#include "storage/stores/webhook_event_store.h"

namespace presetbridge::services {

struct SentEventView {
  storage::SentEventRow row;
  std::string body;                           // exactly what is sent
  std::vector<storage::AttemptRow> attempts;  // oldest first
};
struct Recovery {
  std::int64_t total = 0;
  bool exact = true;  // false: there are more than `total`, which is most_counted
};

// NOT_FOUND: the subscription is another account's, a key that is restricted to integrations may not see it or
// the event (spec 6.2), or the event was not for it.
class WebhookEvents {
 public:
  static constexpr int most_counted = 10'000;

  // All outlive this. `changed` is called, on any thread, when there may be something to send or to recover.
  WebhookEvents(storage::AsyncDatabase& async_db, IdSource& ids, std::function<void()> changed)
      : async_db_(async_db), ids_(ids), changed_(std::move(changed)) {}

  // Lists the events for a subscription, newest first. With a filter, or for a restricted key, a page may have
  // fewer rows than its limit, or none, and still have a next page (storage::kSentScanLimit).
  Task<Expected<storage::Page<storage::SentEventRow>>> list(Executor& executor, identity::Principal by,
                                                            SubscriptionId id,
                                                            storage::SentEventFilter filter,
                                                            storage::PageRequest page);
  Task<Expected<SentEventView>> get(Executor& executor, identity::Principal by, SubscriptionId id,
                                    std::string uuid);
  // Makes the event due at once, whatever its outcome. It gets all its attempts again; its id and bytes stay.
  // CONFLICT while the subscription is not active, or an attempt is under way.
  Task<Expected<storage::SentEventRow>> resend(Executor& executor, identity::Principal by, SubscriptionId id,
                                               std::string uuid);
  // Begins to make all events due that failed for good at `since` or later. The work goes on in the background
  // (services/webhooks/subscription_watch.h), and after a crash. Events that succeeded or still wait do not
  // change. CONFLICT while the subscription is not active.
  Task<Expected<Recovery>> recover(Executor& executor, identity::Principal by, SubscriptionId id,
                                   Timestamp since);
  // Counts what recover() would begin, and begins nothing. Errors as recover().
  Task<Expected<Recovery>> plan_recovery(Executor& executor, identity::Principal by, SubscriptionId id,
                                         Timestamp since);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const std::function<void()> changed_;
};

}  // namespace presetbridge::services
