// The items of a delivery: one for each file that is owed to a user of the cloud platform (spec 3.11). An
// item of the delivery's present customer is current. An item of a customer from before the name was
// corrected is former: it is recorded as theirs, and never counts as delivered to the present one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/delivery_outcome.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/delivery_set.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Returns the ids of the order lines that owe the item, which was read with its lines.
std::vector<std::string> line_ids(const storage::ItemRow& item);
// Returns the ids as ItemRow::lines holds them.
std::string lines_json(const std::vector<std::string>& line_ids);

// Returns the user of the platform whom the item is recorded for; empty: the name is not resolved. `customer`
// is the item's, whose user counts for an item that an earlier program wrote without one.
const std::string& user_of(const storage::ItemRow& item, const storage::CustomerRow& customer);
// Whether the share of the item was taken back, or is being, or could not be.
bool was_taken_back(const storage::ItemRow& item);
// Records that the former customer had the item's file for a credit: it was taken back, or nobody knows whether it was
// (spec 3.11).
void record_as_taken_back(storage::ItemRow& item);
// Merges the delivery's `item`, which is owed or dropped, into `former`, a former item of the same file that turns out
// to be for the same user: the former one becomes current and stands for both, and the item is removed.
void merge_items(DeliverySet& set, storage::ItemRow& item, storage::ItemRow& former);

using Items = std::span<const storage::ItemRow* const>;
std::vector<const storage::ItemRow*> pointers(std::span<const storage::ItemRow> items);

// Returns the item as domain/mapping.h plans with it. It was read with its lines.
domain::ItemNow item_now(const storage::ItemRow& item);
// Returns the current items of these, which were read with their lines.
std::vector<domain::ItemNow> items_now(Items items);
// The status as people and stores read it: a file that the merchant delivered by hand is that, though it is not known
// yet whether a share of it was made too.
inline domain::ItemStatus reported_status(const storage::ItemRow& item) {
  const bool by_hand = item.status == domain::ItemStatus::sharing && item.by_hand;
  return by_hand ? domain::ItemStatus::delivered_by_hand : item.status;
}
// Counts the current items of a delivery for this username, and for this customer if it is routed. An item that
// was taken back from the customer of a former name is nothing that the present one got (spec 3.1, 3.11): it counts
// as dropped.
domain::ItemTally tally(Items items, std::string_view username, CustomerId customer);
inline domain::ItemTally tally(Items items, const storage::DeliveryRow& row) {
  // One that waits under a new name has its former customer still.
  const bool unrouted = row.status == domain::DeliveryStatus::waiting_for_friendship;
  return tally(items, row.username, unrouted ? CustomerId{} : row.customer);
}

// Whether marking the delivery as delivered would report files to the store that nobody has and nobody pays for.
inline bool nobody_pays(Items items, const storage::DeliveryRow& row, const domain::OrderState& order) {
  const auto counted = tally(items, row);
  return counted.owed + counted.sharing + counted.shared == 0 && domain::pays_for_nothing(order);
}

// Returns a new item of a file that the order owes: `owed`, or `dropped` where no quantity of it is paid.
storage::ItemRow item_of(const storage::DeliveryRow& row, const domain::OwedFile& file, IdSource& ids);

// Drops the items of these that are owed.
void drop_owed(DeliverySet& set, std::span<storage::ItemRow* const> items);

// The result of align_items().
struct Alignment {
  bool owes_more = false;            // a file is owed that was not
  bool owes_less = false;            // a file is not owed any more
  std::vector<std::string> dropped;  // the names of the files that are not
  std::vector<std::string> added;    // the names of the files that are owed and were no item before
  bool too_many = false;             // the order owes more files than a delivery may: nothing was added
  std::vector<ItemId> refunded;      // as domain::ItemPlan has it
};
// Returns the timeline's message of an alignment that owes less: the first files, and how many more, and those that
// are owed instead.
std::string dropped_message(const Alignment& aligned);
enum class Owe { as_the_order_says, nothing_more };
// Brings the items of a delivery, whose row is of the set, in line with its order. `mapped`: the files that
// the newly mapped lines owe; other lines owe what they did. `complete`: a mapped line without a file owes
// nothing; otherwise, as stale mappings were left out, it owes what it did (domain::plan_items()).
Alignment align_items(DeliverySet& set, const storage::DeliveryRow& row, const domain::OrderState& state,
                      const domain::MappedOrder& mapped, bool complete = true,
                      Owe owe = Owe::as_the_order_says);

}  // namespace presetbridge::services
