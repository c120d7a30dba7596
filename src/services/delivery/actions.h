// What a merchant, or a key, does to deliveries (spec 3.3, 3.11, 9.4). While a job has the delivery the
// action waits as its pending action and the answer says so; otherwise it is done when this returns.
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

// What of a delivery is to be taken back (spec 9.4): these items, or what the customer of this name got; with
// neither what its present customer has.
struct RevokeQuery {
  std::vector<ItemId> items;
  std::string username;  // normalised

  bool takes(const storage::ItemRow& item) const;
  // VALIDATION_FAILED where one of the items, or nothing of the customer, is in the delivery.
  Expected<void> check(Items all) const;
};

class DeliveryActions {
 public:
  // `changed` is called, on any thread, when there may be new work for the delivery worker.
  DeliveryActions(storage::AsyncDatabase& async_db, DeliveryChanges& changes, int jobs_per_minute,
                  std::function<void()> changed)
      : async_db_(async_db),
        changes_(changes),
        jobs_per_minute_(jobs_per_minute),
        changed_(std::move(changed)) {}

  // NOT_FOUND for another account's, or one outside the key's scope.
  Task<Expected<DeliveryView>> get(Executor& executor, identity::Principal by, DeliveryId id);
  Task<Expected<storage::Page<ShownEntry>>> timeline(Executor& executor, identity::Principal by,
                                                     DeliveryId id, storage::PageRequest page);
  // What the filter finds, without what a scoped key may not see; its account is set here. A page may be
  // short and have a next one: storage/stores/delivery_search.h.
  Task<Expected<storage::Page<DeliverySummary>>> list(Executor& executor, identity::Principal by,
                                                      storage::DeliveryFilter filter);
  Task<Expected<storage::DeliveryCount>> count(Executor& executor, identity::Principal by,
                                               storage::DeliveryFilter filter);
  // Ends the buyer's link and makes a new one (spec 13.3).
  Task<Expected<DeliveryView>> renew_link(Executor& executor, identity::Principal by, DeliveryId id);

  // A new attempt; with `username`, normalised and not empty, under that name (spec 3.11). To review instead,
  // where nobody approved what stands against it. INVALID_TRANSITION too where the mappings of now would make
  // it owe more files than are served; a delivery in review takes the name all the same.
  Task<Expected<DeliveryView>> retry(Executor& executor, identity::Principal by, DeliveryId id,
                                     std::optional<std::string> username);
  // The same in the caller's unit of work, whose transaction has locked the order and the delivery's customers;
  // `row` is of the set.
  static Expected<void> retry_row(DeliverySet& set, storage::DeliveryRow& row, const std::string& username,
                                  domain::Actor actor);
  Task<Expected<DeliveryView>> invalidate(Executor& executor, identity::Principal by, DeliveryId id,
                                          std::string reason);
  Task<Expected<DeliveryView>> reopen(Executor& executor, identity::Principal by, DeliveryId id);
  Task<Expected<DeliveryView>> approve(Executor& executor, identity::Principal by, DeliveryId id);
  // Marks what is owed as delivered by hand: no credit is spent.
  Task<Expected<DeliveryView>> complete(Executor& executor, identity::Principal by, DeliveryId id);
  // What a job on many does to each (bulk_deliveries.h).
  struct Asked {
    domain::MerchantAction action = domain::MerchantAction::retry;  // or approve, or invalidate
    std::string reason = {};                                        // of invalidate
    domain::Actor actor = {};
  };
  // One of them, in the caller's transaction. Throws NOT_FOUND, and INVALID_TRANSITION, also where
  // `is_chosen` says that the delivery, locked by now, is not what was chosen any more.
  void act_in(storage::Tx& tx, AccountId account, DeliveryId id, const Asked& asked,
              const std::function<bool(const storage::DeliveryRow&)>& is_chosen);
  // Starts taking back what was shared (spec 3.10). INVALID_TRANSITION if nothing was.
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
