// Brings the delivery of an order in line with what the order says now (spec 2.6, 2.9-2.11): for a new order,
// a later event of it, and a reprocessing after the mappings changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/change.h"
#include "storage/delivery_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {

// What of an integration decides how its orders are served.
struct FulfilmentRules {
  bool active = true;
  bool hold_all = false;
  bool deliver_test_orders = false;
  bool auto_revoke = false;
  std::shared_ptr<const domain::MappingIndex> mappings;  // never null
};

// What a new order comes to, before anything is read or written.
struct NewOrderPlan {
  std::string outcome;  // of the order's row
  std::int64_t unmapped = 0;
  std::vector<domain::OwedFile> files;  // owed; empty unless the outcome is "delivery"
};
NewOrderPlan plan_new_order(const domain::OrderState& state, const FulfilmentRules& rules);

class Fulfilment {
 public:
  explicit Fulfilment(DeliveryChanges& changes) : changes_(changes) {}

  // Adds the delivery of an order whose plan's outcome is "delivery".
  void plan_delivery(NewDeliveries& created, const storage::OrderRow& order, const domain::OrderState& state,
                     const FulfilmentRules& rules, const NewOrderPlan& plan, AccountFacts& facts);
  // Makes the deliveries that were planned.
  void create(storage::Tx& tx, NewDeliveries& created, AccountFacts& facts);

  enum class Occasion {
    refund,       // a later event that tells of refunds alone: the mappings are not read again
    later_event,  // any other later event, or a reprocessing
  };
  // An order that is known: its delivery is brought in line, or made if there was none. The order's outcome
  // and unmapped count are set, and whoever calls writes the row. Returns the delivery as it now stands, if
  // there is one.
  std::optional<storage::DeliveryRow> fulfil(storage::Tx& tx, storage::OrderRow& order,
                                             const domain::OrderState& state, const FulfilmentRules& rules,
                                             Occasion occasion, const domain::OrderChange& change);

  // Adds and restores items so that they are what `mapped` owes; with `may_drop` it also drops what the
  // mappings owe no more. Returns the statuses of all.
  std::vector<domain::ItemStatus> align_items(storage::Tx& tx, const domain::MappedOrder& mapped,
                                              const storage::DeliveryRow& row, bool may_drop);

 private:
  void align(storage::Tx& tx, storage::OrderRow& order, const domain::OrderState& state,
             const FulfilmentRules& rules, storage::DeliveryRow& row, Occasion occasion,
             const domain::OrderChange& change);
  std::vector<domain::ItemStatus> drop_refunded(storage::Tx& tx, const domain::OrderState& state,
                                                DeliveryId delivery);
  void stop(storage::Tx& tx, const domain::OrderState& state, const FulfilmentRules& rules,
            storage::DeliveryRow& row);
  void drop_owed(storage::Tx& tx, DeliveryId delivery);
  void review(storage::Tx& tx, storage::DeliveryRow& row, domain::Cause cause,
              domain::PendingActionKind pending, std::string reason);
  storage::ItemRow owed_item(const storage::DeliveryRow& row, const domain::OwedFile& file);

  DeliveryChanges& changes_;
};

// The ids of the order lines that owe the item.
std::vector<std::string> line_ids(const storage::ItemRow& item);

// Gives up what this delivery shared (spec 3.10); returns how many items. A share that another order of the
// same customer stands on stays, and is that order's from now on; any other is taken back at the platform.
// What somebody else shared is left alone.
int revoke_shared_items(storage::Tx& tx, DeliveryId delivery);

}  // namespace presetbridge::services
