// What the end of a job, or a change of items, means for a delivery: from its items' statuses, what the job
// found and what was asked of it meanwhile, to the one cause that the state machine takes.
// spec 3.1, 3.3, 3.9.
#pragma once

#include <optional>
#include <span>

#include "domain/delivery.h"
#include "domain/delivery_machine.h"

namespace presetbridge::domain {

struct ItemTally {
  int owed = 0;     // still to be shared
  int sharing = 0;  // outcome unknown: a settlement will tell
  int shared = 0;   // reached the customer, even if revoked since
  int dropped = 0;
  bool operator==(const ItemTally&) const = default;
};
ItemTally tally(std::span<const ItemStatus> items);

// What a job ended with.
enum class Finding {
  worked,  // did what it could: items tell the rest
  request_sent,
  still_waiting,
  transient,        // trouble of this delivery alone
  account_trouble,  // trouble of the account or platform (account_pause.h)
  permanent,        // with a code
  shutting_down,
};

struct Verdict {
  Cause cause;
  ResolutionCode code = ResolutionCode::none;  // set iff the transition sets_resolution()
  bool drop_owed = false;                      // every item `owed` becomes `dropped`
  bool operator==(const Verdict&) const = default;
};

// For a delivery in `processing`. The pending action is obeyed first; what was shared stays shared; a
// delivery ends only with no item owed or `sharing`, unless the merchant, the order or erasure ends it.
// `code` goes with Finding::permanent.
Verdict conclude_job(const ItemTally& items, Finding finding, ResolutionCode code, PendingActionKind pending);

// For a delivery that no job has (queued, waiting, failed, in review, completed), after the order dropped or
// added items: the cause to step with, or nothing if its status stays.
std::optional<Verdict> conclude_items(DeliveryStatus status, const ItemTally& items);

// For a delivery that no job has, when its order stops (cancelled, refunded in whole): invalidate it,
// complete it with what was shared, or nothing (completed, invalidated).
std::optional<Verdict> conclude_stop(DeliveryStatus status, const ItemTally& items);

}  // namespace presetbridge::domain
