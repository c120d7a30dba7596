// What a job's steps do to the items of deliveries beside sharing them (share_ledger.h). Each function
// changes rows of the caller's set.
#pragma once

#include <string_view>
#include <vector>

#include "services/delivery/delivery_set.h"

namespace presetbridge::services {

// The delivery's name leads to another user of the platform than before: what that one got stays recorded as
// theirs, and is owed to the customer's user of now (spec 3.11). References into the set end then. Returns
// the delivery's items as they are now.
std::vector<storage::ItemRow*> leave_former_owner(DeliverySet& set, const storage::CustomerRow& customer,
                                                  DeliveryId delivery);

// The customer's name is resolved: the item, which is owed and about to be shared, is owed to that user of
// the platform. Where the user has it from before, by another name, the two become one (spec 3.11). Returns
// the item that stands.
storage::ItemRow& own_item(DeliverySet& set, const storage::CustomerRow& customer, storage::ItemRow& item);

enum class RevocationEnd {
  taken_back,
  refused,  // the share is there
  unknown,  // the platform was asked, and did not answer
};
// revoking -> `revoked`, or `revoke_failed` because of `why`, the end of a sentence. Where the order was paid
// again meanwhile, a share that is there stays, and any other is owed again (spec 3.10). An item that is not
// `revoking` any more stays as it is.
void end_revocation(DeliverySet& set, DeliveryId delivery, ItemId item, RevocationEnd end,
                    std::string_view why = {});

// The order may have ended, or been refunded, while a share was on its way: what that takes back includes it
// (spec 2.11).
void revoke_if_ended(DeliverySet& set, DeliveryId delivery);

}  // namespace presetbridge::services
