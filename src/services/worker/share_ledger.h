// Sharing exactly once, and paying exactly once (spec 3.9, 11.1): the intent with its hold, and how it ends.
// A credit released pays the account's debt first, which the ledger tells as debt_paid; else it resumes what
// failed for want of one. Each function changes rows of the caller's set.
#pragma once

#include <optional>

#include <string>
#include <string_view>

#include "base/ids.h"
#include "services/delivery/delivery_set.h"

namespace presetbridge::services {

// owed -> sharing, with one credit of the item's account on hold, unless the item was charged before. False,
// and nothing changed, if no credit is available.
bool begin_share(DeliverySet& set, storage::ItemRow& item, CustomerId customer, const std::string& intent_key,
                 Timestamp settle_after);

// sharing -> shared and spent; or, where the share was made by somebody else (`ours` false), already_shared
// and released. An item that is not `sharing` any more was settled before: nothing happens.
void settle_found(DeliverySet& set, DeliveryId delivery, ItemId item, bool ours, Timestamp shared_at,
                  std::optional<Millis> took = std::nullopt);

// sharing -> owed (or dropped, where its order has stopped meanwhile, or it is another customer's now), and
// released.
void settle_absent(DeliverySet& set, DeliveryId delivery, ItemId item);
// The same of a share that nobody can look up any more, which the timeline tells: `why` as the end of a
// sentence.
void count_as_absent(DeliverySet& set, DeliveryId delivery, ItemId item, std::string_view why);

}  // namespace presetbridge::services
