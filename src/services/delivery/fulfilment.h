// Brings the delivery of an order in line with what the order says now (spec 2.6, 2.9-2.11): for a new order,
// a later event of it, and a reprocessing after the mappings changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/mapping.h"
#include "domain/order.h"
#include "domain/order_summary.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

// The settings of a store that decide how its orders are served.
struct FulfilmentRules {
  bool active = true;
  bool hold_all = false;
  bool deliver_test_orders = false;
  bool auto_revoke = false;
  bool mappings_stale = false;  // some mappings are of another cloud user's files, and are left out
  std::shared_ptr<const domain::MappingIndex> mappings;  // never null
};

// Returns whether the order is delivered without the cloud platform and without credits (spec 2.11).
bool is_dry_run(const domain::OrderState& state, const FulfilmentRules& rules);

// The outcome of an order without a delivery, before anything is read or written.
struct NewOrderPlan {
  domain::OrderOutcome outcome = domain::OrderOutcome::stopped;
  std::int64_t unmapped = 0;
  bool too_large = false;               // more lines, refunds or files than are served
  std::vector<domain::OwedFile> files;  // empty unless the outcome is `delivery`
};
// Plans an order. Its lines are mapped when it first becomes deliverable, and the result is recorded in
// `state`; a later event maps only lines that are new or another product (spec 2.6).
NewOrderPlan plan_new_order(domain::OrderState& state, const FulfilmentRules& rules,
                            domain::MappingIndex::Lines lines = domain::MappingIndex::Lines::not_mapped);

class Fulfilment {
 public:
  explicit Fulfilment(DeliveryChanges& changes) : changes_(changes) {}

  // Adds to `created` the delivery of an order whose plan has the outcome `delivery`. `key`: the API key
  // whose request makes it, or none.
  void plan_delivery(DeliverySet& set, NewDeliveries& created, const storage::OrderRow& order,
                     const domain::OrderState& state, const FulfilmentRules& rules, const NewOrderPlan& plan,
                     ApiKeyId key = {});
  // Makes the deliveries that were planned.
  void create(DeliverySet& set, NewDeliveries& created);

  // Applies an event of the store to a known order of the set, whose state knows the event: its delivery is
  // brought in line, or made if there was none. Sets the order's outcome and its unmapped lines, and records
  // in its state what was mapped. Returns the delivery as it now is; nothing if there is none.
  std::optional<storage::DeliveryRow> fulfil(DeliverySet& set, LoadedOrder& loaded,
                                             const FulfilmentRules& rules, const domain::OrderEvent& event,
                                             const domain::OrderChange& change, ApiKeyId key = {});

 private:
  // One event of the store about one delivery.
  struct Update;
  void align(Update& update);
  bool conclude(Update& update, const Alignment& aligned);
  Alignment take_back_refunded(Update& update);
  static void add_refund_entries(Update& update, const Alignment& aligned);
  void apply_username(Update& update);
  void continue_stopped(Update& update);
  void stop(Update& update);
  bool review(Update& update, const Alignment& aligned);
  void move_to_review(Update& update, const domain::ReviewReasons& reasons);
  void queue_again(Update& update, domain::Cause cause);
  static bool has_new_name(const Update& update);
  void continue_renamed(Update& update);

  DeliveryChanges& changes_;
};

// Returns the change that invalidates a delivery of which nothing is owed and nothing was shared: by refunds,
// or because there is nothing to deliver (spec 3.1). The items were read with their lines.
Change nothing_left(Items items, const domain::OrderState& state, domain::Actor actor);

}  // namespace presetbridge::services
