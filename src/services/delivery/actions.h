// The actions of merchants and keys on deliveries (spec 3.3, 3.11, 9.4). While a job has the delivery, an
// action is stored as the delivery's pending action, and the answer says so; otherwise it is done when the
// call returns.
//
// A delivery of another account, or of a store that the key may not see, is NOT_FOUND. An action that the
// delivery does not take now is INVALID_TRANSITION. Neither changes anything.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/journey.h"
#include "identity/principal.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "services/delivery/view.h"
#include "storage/commit/async_database.h"
#include "storage/stores/delivery_search.h"

namespace presetbridge::services {

// The items of a delivery to take back (spec 9.4): these, or those of the customer of this name; with
// neither, those of its present customer.
struct RevokeQuery {
  std::vector<ItemId> items;
  std::string username;  // normalised

  bool selects(const storage::ItemRow& item) const;
  // VALIDATION_FAILED where the delivery has not all of the items, or none of the customer.
  Expected<void> check(Items all) const;
};

// A retry withdraws a friend request that had no answer and sends another, or it keeps the request and waits for
// the answer as long again (spec 3.5).
enum class FriendRequest { renew, keep };

class DeliveryActions {
 public:
  // `changed` is called, on any thread, when there may be new work for the delivery worker.
  DeliveryActions(storage::AsyncDatabase& async_db, DeliveryChanges& changes, int jobs_per_minute,
                  std::function<void()> changed)
      : async_db_(async_db),
        changes_(changes),
        jobs_per_minute_(jobs_per_minute),
        changed_(std::move(changed)) {}

  Task<Expected<DeliveryView>> get(Executor& executor, identity::Principal by, DeliveryId id);
  Task<Expected<storage::Page<ShownEntry>>> timeline(Executor& executor, identity::Principal by,
                                                     DeliveryId id, storage::PageRequest page);
  // Returns the deliveries that the filter finds, of the caller's account and of stores that the caller sees.
  // A page may be short and have a next one: storage/stores/delivery_search.h.
  Task<Expected<storage::Page<DeliverySummary>>> list(Executor& executor, identity::Principal by,
                                                      storage::DeliveryFilter filter);
  Task<Expected<storage::DeliveryCount>> count(Executor& executor, identity::Principal by,
                                               storage::DeliveryFilter filter);
  // Ends the buyer's link and makes a new one (spec 13.3).
  Task<Expected<DeliveryView>> renew_link(Executor& executor, identity::Principal by, DeliveryId id);

  // Starts a new attempt; with `username`, normalised and not empty, under that name (spec 3.11). It goes to
  // review instead where something stands against the order that nobody has approved. INVALID_TRANSITION also
  // where the present mappings would make it owe more files than are served, but a delivery in review gets
  // the name all the same. `keep` is INVALID_TRANSITION
  // with another username, and where the delivery did not fail for want of an answer.
  Task<Expected<DeliveryView>> retry(Executor& executor, identity::Principal by, DeliveryId id,
                                     std::optional<std::string> username,
                                     FriendRequest request = FriendRequest::renew);
  // Does what retry() does in the caller's unit of work, which has locked the order and the delivery's
  // customers; `row` is of the set, and an empty `username` leaves the name as it is.
  static Expected<void> retry_row(DeliverySet& set, storage::DeliveryRow& row, const std::string& username,
                                  domain::Actor actor, FriendRequest request = FriendRequest::renew);
  Task<Expected<DeliveryView>> invalidate(Executor& executor, identity::Principal by, DeliveryId id,
                                          std::string reason);
  Task<Expected<DeliveryView>> reopen(Executor& executor, identity::Principal by, DeliveryId id);
  Task<Expected<DeliveryView>> approve(Executor& executor, identity::Principal by, DeliveryId id);
  // Marks the owed items as delivered by hand; no credit is spent.
  Task<Expected<DeliveryView>> complete(Executor& executor, identity::Principal by, DeliveryId id);
  // One action for many deliveries (bulk_deliveries.h).
  struct BulkAction {
    domain::MerchantAction action = domain::MerchantAction::retry;  // or approve, or invalidate
    std::string reason = {};                                        // of invalidate
    domain::Actor actor = {};
  };
  // Does the action to one of the deliveries, in the caller's transaction. Throws NOT_FOUND and
  // INVALID_TRANSITION, the latter also where `is_chosen`, called with the locked row, says that the delivery
  // does not fit the choice any more.
  void act_in(storage::Tx& tx, AccountId account, DeliveryId id, const BulkAction& wanted,
              const std::function<bool(const storage::DeliveryRow&)>& is_chosen);
  // Starts to take back shared files (spec 3.10). INVALID_TRANSITION if none of them is shared.
  Task<Expected<DeliveryView>> revoke(Executor& executor, identity::Principal by, DeliveryId id,
                                      RevokeQuery which = {});

 private:
  using Act = std::function<Expected<void>(DeliverySet&, storage::DeliveryRow&, domain::Actor)>;
  Task<Expected<DeliveryView>> act(Executor& executor, identity::Principal by, DeliveryId id,
                                   const char* name, Act act);
  static Expected<void> act_or_wait(DeliverySet& set, storage::DeliveryRow& row, const Change& change,
                                    domain::PendingAction pending);
  static Expected<void> invalidate_row(DeliverySet& set, storage::DeliveryRow& row, const std::string& reason,
                                       domain::Actor actor);
  static Expected<void> approve_row(DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor);
  static void conclude_or_queue(DeliverySet& set, storage::DeliveryRow& row, domain::Actor actor);

  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  const int jobs_per_minute_;
  const std::function<void()> changed_;
};

}  // namespace presetbridge::services
