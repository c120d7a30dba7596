// The items of a delivery: one for each file that is owed to a user of the cloud platform (spec 3.11). Those
// of the delivery's present customer are current; those of a customer of before the name was corrected are
// former: recorded as theirs, and never counted as delivered to the present one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "domain/delivery_outcome.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/delivery_set.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// The ids of the order lines that owe the item.
std::vector<std::string> line_ids(const storage::ItemRow& item);
std::string lines_json(const std::vector<std::string>& line_ids);

// The user of the platform whose the item is; `customer` is its customer, by whom rows of before that do not
// tell are read. Empty: not resolved.
const std::string& user_of(const storage::ItemRow& item, const storage::CustomerRow& customer);
// The delivery's `item`, which is owed, and `twin`, a former one of the same file, turn out to be owed to the
// same user: the twin stands for both, and the item is removed.
void become_one(DeliverySet& set, storage::ItemRow& item, storage::ItemRow& twin);

using Items = std::span<const storage::ItemRow* const>;
std::vector<const storage::ItemRow*> pointers(std::span<const storage::ItemRow> items);

// Of an item that was read with its lines.
domain::ItemNow item_now(const storage::ItemRow& item);
// Of the current ones, which were read with their lines.
std::vector<domain::ItemNow> items_now(Items items);
// Of the current ones.
domain::ItemTally tally(Items items);

// An item of a file that the order owes: `owed`, or `dropped` where nothing of it is paid (any more).
storage::ItemRow item_of(const storage::DeliveryRow& row, const domain::OwedFile& file, IdSource& ids);

// What is owed is owed no more.
void drop_owed(DeliverySet& set, std::span<storage::ItemRow* const> items);

// What bringing the items in line with the order came to.
struct Alignment {
  bool owes_more = false;            // something is owed that was not
  bool owes_less = false;            // something is owed no more
  std::vector<std::string> dropped;  // the files of which that is so, by name
  bool too_many = false;             // the order owes more files than a delivery may: nothing was added
  std::vector<ItemId> refunded;      // as domain::ItemPlan has it
};
// What the timeline tells of an alignment that owes less: how many files, and the first of them.
std::string words_of_dropped(const Alignment& aligned);
enum class Owe { as_the_order_says, nothing_more };
// `mapped` and `complete`: as domain::plan_items() has them. The row is of the set.
Alignment align_items(DeliverySet& set, const storage::DeliveryRow& row, const domain::OrderState& state,
                      const domain::MappedOrder& mapped, bool complete = true,
                      Owe owe = Owe::as_the_order_says);

}  // namespace presetbridge::services
