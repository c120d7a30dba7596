// A delivery is for another user of the cloud platform than was thought: the name was corrected (spec 2.6,
// 3.11).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Whether something of the delivery is shared with its present customer: a name that the store or the buyer
// sends does not count then. A share of which nobody knows does not stand in its way, as the store sends the
// name only once: if it is found, it stays recorded as the former customer's.
bool anything_shared(Items items);

// From now on the row, which is of the set, is for `username`. A friend request to
// the former customer that they have not answered is taken back, unless others of their deliveries need it.
// Every file that the delivery owes is owed to the new customer; what the former one got stays recorded as
// theirs. The row has no customer until it is routed (routing.h), or probed (spec 3.5); one that waits has
// the former one still, and the caller moves it on. `at`: when the name was given; another that waits for a
// job is not wanted any more.
void change_customer(DeliverySet& set, storage::DeliveryRow& row, const std::string& username,
                     const std::string& raw_username, Timestamp at);

// Whether the item is one of the present customer's that stands for what another user of the platform than
// `user` has, or was charged for: the name is somebody else's now.
bool is_of_another(const storage::ItemRow& item, std::string_view user);

// The job that is at work for the customer takes the request back itself: the same without that. With a
// `user`, whom the unchanged name leads to now: for the items that are another's (is_of_another()) alone.
void change_owner_of_items(DeliverySet& set, const storage::DeliveryRow& row, std::string_view user = {});

}  // namespace presetbridge::services
