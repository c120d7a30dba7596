// Sharing exactly once, and paying exactly once (spec 3.9, 11.1): the intent with its hold, and its end. A
// released credit pays the account's debt first, as `debt_paid` in the ledger; where a credit becomes
// available, an account task resumes deliveries that failed without one. Each function changes rows of the
// caller's set.
#pragma once

#include <optional>

#include <string>
#include <string_view>

#include "base/ids.h"
#include "services/delivery/delivery_set.h"

namespace presetbridge::services {

// owed -> sharing, with one credit of the item's account on hold, unless the item was charged before. Returns
// false, and changes nothing, if no credit is available. No look-up settles the share before `settle_after`.
bool begin_share(DeliverySet& set, storage::ItemRow& item, CustomerId customer, const std::string& intent_key,
                 Timestamp settle_after);

// The share exists: sharing -> shared, and the credit is spent; or, where somebody else made the share
// (`ours` is false), already_shared, and the hold is released. A share of before that perhaps was taken back
// is shared, and charged once: to the item, or to the one that it was inherited from. `took` is the call's
// duration, for the timeline. An item that is not `sharing` was settled before and stays as it is; so for the
// functions below.
void settle_found(DeliverySet& set, DeliveryId delivery, ItemId item, bool ours, Timestamp shared_at,
                  std::optional<Millis> took = std::nullopt);

// A look-up has shown that there is no share: the hold is released, and sharing -> owed; or `dropped`, where
// the order stopped or refunded the file or the delivery has another customer meanwhile; or
// `delivered_by_hand`, where the merchant delivered it so. A file of a former customer that cost a credit counts as
// taken back.
void settle_absent(DeliverySet& set, DeliveryId delivery, ItemId item);
// settle_absent() where the call has made no share and nothing was looked up: a share of before that perhaps
// was taken back (revocation_begun) may still exist, so the item stays one of its customer's.
void settle_not_made(DeliverySet& set, DeliveryId delivery, ItemId item);
// settle_not_made() for a share that nobody can look up any more, with an entry in the timeline: `why` is the
// end of its sentence.
void count_as_absent(DeliverySet& set, DeliveryId delivery, ItemId item, std::string_view why);

}  // namespace presetbridge::services
