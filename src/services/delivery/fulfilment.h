// Brings the delivery of an order in line with what the order says now (spec 2.6, 2.9-2.11): for a new order,
// a later event of it, and a reprocessing after the mappings changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

// What of an integration decides how its orders are served.
struct FulfilmentRules {
  bool active = true;
  bool hold_all = false;
  bool deliver_test_orders = false;
  bool auto_revoke = false;
  bool mappings_stale = false;  // some are of another cloud user's files, and left out
  std::shared_ptr<const domain::MappingIndex> mappings;  // never null
};

// Done without cloud and credits (spec 2.11).
bool is_dry_run(const domain::OrderState& state, const FulfilmentRules& rules);

// What an order without a delivery comes to, before anything is read or written.
struct NewOrderPlan {
  std::string outcome;  // of the order's row
  std::int64_t unmapped = 0;
  bool too_large = false;               // more lines, refunds or files than are served
  std::vector<domain::OwedFile> files;  // empty unless the outcome is "delivery"
};
// An order's lines are mapped when it first becomes deliverable: that is noted in `state`. A later event has
// only those mapped that are new or another product (spec 2.6).
NewOrderPlan plan_new_order(domain::OrderState& state, const FulfilmentRules& rules,
                            domain::MappingIndex::Lines lines = domain::MappingIndex::Lines::not_mapped);

class Fulfilment {
 public:
  explicit Fulfilment(DeliveryChanges& changes) : changes_(changes) {}

  // Adds the delivery of an order whose plan's outcome is "delivery". `key`: whose request makes it, or none.
  void plan_delivery(DeliverySet& set, NewDeliveries& created, const storage::OrderRow& order,
                     const domain::OrderState& state, const FulfilmentRules& rules, const NewOrderPlan& plan,
                     ApiKeyId key = {});
  // Makes the deliveries that were planned.
  void create(DeliverySet& set, NewDeliveries& created);

  // An order that is known, after an event of its store: its delivery is brought in line, or made if there
  // was none. The order's outcome and unmapped count are set, and what was mapped is noted in `state`;
  // whoever calls writes the row. Returns the delivery as it now stands, if there is one.
  std::optional<storage::DeliveryRow> fulfil(DeliverySet& set, storage::OrderRow& order,
                                             domain::OrderState& state, const FulfilmentRules& rules,
                                             const domain::OrderEvent& event,
                                             const domain::OrderChange& change, ApiKeyId key = {});

 private:
  // One event of the store about one delivery.
  struct News;
  void align(News& news);
  void take_username(News& news);
  void stop(News& news);
  bool review(News& news, const Alignment& aligned);
  void to_review(News& news, const domain::ReviewReasons& reasons);
  void queue_again(News& news, domain::Cause cause);
  static bool has_new_name(const News& news);
  void go_on_renamed(News& news);

  DeliveryChanges& changes_;
};

// What invalidates a delivery of which nothing is owed and nothing was shared: refunds, or that there is
// nothing to deliver (spec 3.1). The items were read with their lines.
Change nothing_left(Items items, const domain::OrderState& state, domain::Actor actor);

}  // namespace presetbridge::services
