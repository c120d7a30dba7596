// The items of a delivery: one for each file that is owed to a user of the cloud platform (spec 3.11). Those
// of the delivery's present customer are current; those of a customer of before the name was corrected are
// former: recorded as theirs, and never counted as delivered to the present one.
//
// All functions change rows of the caller's transaction, which holds the lock of the delivery.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "domain/delivery_outcome.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "storage/customer_store.h"
#include "storage/delivery_store.h"

namespace presetbridge::services {

// The ids of the order lines that owe the item.
std::vector<std::string> line_ids(const storage::ItemRow& item);
std::string lines_json(const std::vector<std::string>& line_ids);

// The user of the platform whose the item is; `customer` is its customer, by whom rows of before that do not
// tell are read. Empty: not resolved.
const std::string& user_of(const storage::ItemRow& item, const storage::CustomerRow& customer);
// The delivery's `item`, which is owed, and `twin`, a former one of the same file, turn out to be owed to the
// same user: the twin stands for both, and the caller deletes the other. Writes the twin's lines alone.
void become_one(storage::Tx& tx, const storage::ItemRow& item, storage::ItemRow& twin);

domain::ItemNow item_now(const storage::ItemRow& item);
// Of an item that was read without its lines.
domain::ItemNow item_with_lines(storage::Tx& tx, storage::ItemRow item);
// Of the current ones.
std::vector<domain::ItemNow> items_now(std::span<const storage::ItemRow> items);
domain::ItemTally tally(std::span<const storage::ItemRow> items);

// An item of a file that the order owes: `owed`, or `dropped` where nothing of it is paid (any more).
storage::ItemRow item_of(const storage::DeliveryRow& row, const domain::OwedFile& file, IdSource& ids);

// Those of the items for which `changes` says so, written together.
template <class Fn>
void change_items(storage::Tx& tx, std::span<storage::ItemRow> items, Fn changes) {
  std::vector<const storage::ItemRow*> changed;
  for (auto& item : items) {
    if (changes(item)) changed.push_back(&item);
  }
  update_items(tx, changed);
}

// What bringing the items in line with the order came to.
struct Alignment {
  std::vector<storage::ItemRow> items;  // as they are now
  bool owes_more = false;               // something is owed that was not
  bool owes_less = false;               // something is owed no more
  std::vector<std::string> dropped;     // the files of which that is so, by name
  bool too_many = false;                // the order owes more files than a delivery may: nothing was added
  std::vector<ItemId> refunded;         // as domain::ItemPlan has it
};
// What the timeline tells of an alignment that owes less: how many files, and the first of them.
std::string words_of_dropped(const Alignment& aligned);
enum class Owe { as_the_order_says, nothing_more };
// `mapped` and `complete`: as domain::plan_items() has them.
Alignment align_items(storage::Tx& tx, IdSource& ids, const storage::DeliveryRow& row,
                      const domain::OrderState& state, const domain::MappedOrder& mapped,
                      bool complete = true, Owe owe = Owe::as_the_order_says);

}  // namespace presetbridge::services
