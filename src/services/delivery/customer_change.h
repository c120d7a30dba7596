// The correction of a delivery's username: it is for another user of the cloud platform than was thought
// (spec 2.6, 3.11).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/items.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Returns whether something of the delivery is known to be shared with its present customer, or to have been
// and perhaps is still: a name from the store or the buyer does not count then. A share that was begun and
// whose outcome is not known does not prevent the correction, as the store sends the name only once: if it is
// found, it stays recorded as the former customer's.
bool anything_shared(Items items);

// Makes the row, which is of the set, a delivery for `username`. Has a job withdraw a friend request to the
// former customer that they have not answered, unless others of their deliveries need it. Each file that the
// delivery owes is owed to the new customer; files that the former one got stay recorded as theirs. The row
// has no customer until it is routed (routing.h) or probed (spec 3.5), except that a waiting delivery has the
// former one until the caller moves it on. `at`: when the name was given. A corrected name that waits for a
// job is dropped.
void change_customer(DeliverySet& set, storage::DeliveryRow& row, const std::string& username,
                     const std::string& raw_username, Timestamp at, domain::Actor by);
// Ends a renamed row's tie to its customer unless it is queued or waiting, and so is routed for the new name: a
// delivery that waited may have failed, or gone to review, before that. Its items would be counted among the former
// customer's otherwise.
void leave_customer_unless_routed(DeliverySet& set, storage::DeliveryRow& row);

// Returns whether the item is a current one that is recorded for another user of the platform than `user`,
// and that user got it, may have got it, or was charged for it: the customer's name leads to somebody else
// now.
bool is_of_another(const storage::ItemRow& item, std::string_view user);

// The item stays with the customer of before, and a copy of it with `status`, owed, dropped or delivered by hand, becomes
// the new customer's.
void leave_to_former(DeliverySet& set, const storage::DeliveryRow& row, storage::ItemRow& item,
                     domain::ItemStatus status);

// Makes the delivery's items the new customer's, as change_customer() does, and leaves the friend request to
// the caller: the job that is at work for the customer withdraws it itself. A file that a person took back is
// owed to the new customer only if it was a person who named them, `by` (spec 3.10). With a `user`, whom the
// unchanged name leads to now, it changes only items for which is_of_another() holds.
void change_owner_of_items(DeliverySet& set, const storage::DeliveryRow& row, domain::Actor by,
                           std::string_view user = {});

// Whether return_items() may make the former item current again: its file is shared, or its share was begun.
bool is_returnable(const storage::ItemRow& item);
// Makes files current again that were shared with the delivery's present customer before it was for another one
// (spec 3.11). A job does so only for files that are owed, and the delivery may owe others since. The present
// customer is `user`, or whoever had the present username then.
void return_items(DeliverySet& set, const storage::DeliveryRow& row, std::string_view user = {});

}  // namespace presetbridge::services
