// A delivery is for another user of the cloud platform than was thought: the name was corrected (spec 2.6,
// 3.11).
#pragma once

#include <span>
#include <string>

#include "base/ids.h"
#include "storage/delivery_store.h"

namespace presetbridge::services {

// Whether something of the delivery is shared with its present customer: a name that the store or the buyer
// sends does not count then. A share of which nobody knows does not stand in its way, as the store sends the
// name only once: if it is found, it stays recorded as the former customer's.
bool anything_shared(std::span<const storage::ItemRow> items);

// From now on the row, which is locked and which the caller writes, is for `username`. A friend request to
// the former customer that they have not answered is taken back, unless others of their deliveries need it.
// Every file that the delivery owes is owed to the new customer; what the former one got stays recorded as
// theirs. `at`: when the name was given.
void change_customer(storage::Tx& tx, IdSource& ids, storage::DeliveryRow& row, const std::string& username,
                     const std::string& raw_username, Timestamp at);

// The job that is at work for the customer takes the request back itself: the same without that.
void change_owner_of_items(storage::Tx& tx, IdSource& ids, const storage::DeliveryRow& row);

}  // namespace presetbridge::services
