// Changes of items by the steps of jobs, except sharing (share_ledger.h). Each function changes rows of the
// caller's set.
#pragma once

#include <string_view>
#include <vector>

#include "services/delivery/delivery_set.h"

namespace presetbridge::services {

// Where the delivery's name leads to another user of the platform than before: files that the former user got
// stay recorded as theirs, and are owed to the customer's present user (spec 3.11). Files that the present user got
// under another name are theirs again. References to its items end then. Returns the delivery's items as they are now.
std::vector<storage::ItemRow*> assign_items_to_user(DeliverySet& set, const storage::CustomerRow& customer,
                                                    DeliveryId delivery);

// Whether a revocation of the item's file from the customer's user has begun, for a former item of the same
// delivery. It ends before the file is shared again (spec 3.10).
bool is_being_revoked(DeliverySet& set, const storage::CustomerRow& customer, const storage::ItemRow& item);

// Gives an owed item, which is about to be shared, to the customer's user, whose name has been resolved.
// Where the delivery has a former item of the file for that user, who had another name then, the two become
// one (spec 3.11): a revocation that has not begun is dropped, and the file stays shared; a file of which nobody
// knows whether its revocation had an effect stays owed. Not for an item that is_being_revoked(). Returns the
// remaining item.
storage::ItemRow& own_item(DeliverySet& set, const storage::CustomerRow& customer, storage::ItemRow& item);

// The call that was to revoke an item had no effect: the revocation is not begun any more, and over where the order
// pays for the item again (spec 3.10).
void undo_revocation(DeliverySet& set, storage::ItemRow& item);

enum class RevocationEnd {
  taken_back,
  failed,  // the share still exists; or, where the item has `revocation_begun`, nobody knows whether it does
};
// Ends the revocation of an item that is `revoking`: it becomes `revoked`, or `revoke_failed` because of
// `why`, the end of a sentence for the timeline. Where the order was paid again meanwhile, an existing share
// stays, and any other file is owed again (spec 3.10). An item that is not `revoking` stays as it is.
void end_revocation(DeliverySet& set, DeliveryId delivery, ItemId item, RevocationEnd end,
                    std::string_view why = {});

// After a share was recorded: where the order ended or was refunded meanwhile, and its store revokes then,
// the share is revoked with the others (spec 2.11). An end that the merchant approved since takes nothing back;
// a refund does.
void revoke_if_ended(DeliverySet& set, DeliveryId delivery);

}  // namespace presetbridge::services
