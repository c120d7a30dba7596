// The effect on a delivery of a job's end, or of a change of its items (spec 3.1, 3.3, 3.9): the one cause
// for the state machine, from the items' statuses, the job's finding and the pending action.
#pragma once

#include <optional>
#include <span>

#include "domain/delivery.h"
#include "domain/delivery_machine.h"

namespace presetbridge::domain {

// Counts the items that are owed to the delivery's present customer (spec 3.11), never those of a former one.
struct ItemTally {
  int owed = 0;     // still to be shared
  int sharing = 0;  // outcome unknown until a settlement
  int shared = 0;   // reached the customer, even if revoked since
  int dropped = 0;
  bool operator==(const ItemTally&) const = default;
};
ItemTally tally(std::span<const ItemStatus> items);

// The end of a job.
enum class Finding {
  worked,  // did all it could: the items' statuses say the rest
  request_sent,
  still_waiting,
  transient,        // trouble of this delivery alone
  account_trouble,  // trouble of the account or platform (trouble.h)
  permanent,        // with a code
  shutting_down,
  lease_lost,  // found by a take-over, before it begins anything
};

struct Verdict {
  std::optional<Cause> cause = std::nullopt;   // for the state machine; nothing: the status stays
  ResolutionCode code = ResolutionCode::none;  // set iff the transition sets_resolution()
  bool drop_owed = false;                      // every item `owed` becomes `dropped`
  bool keep_pending = false;  // the pending action stays (or is stored): obey it once settled
  bool operator==(const Verdict&) const = default;
};

// For a delivery in `processing`, at each end of a job and at a take-over. The pending action is obeyed
// first; what was shared stays shared; a delivery completes only with no item owed or `sharing`. `code`
// goes with Finding::permanent. `items` are as they will be after a pending correction of the name.
Verdict conclude_job(const ItemTally& items, Finding finding, ResolutionCode code,
                     const PendingAction& pending);

// For a delivery that no job has, after its items changed. If nothing is owed any more, it is completed or
// invalidated (nothing_to_deliver); if something is owed after completion, it is queued again; else its
// status stays. A review ends only if nothing was shared.
Verdict conclude_items(DeliveryStatus status, const ItemTally& items);

// For a delivery that no job has, when its order stops (cancelled, refunded in whole): invalidated if nothing
// was shared, else completed with what was, or left in review. Items of an invalidated delivery stay `owed`,
// so that it can be reopened or paid again.
Verdict conclude_stop(DeliveryStatus status, const ItemTally& items);

// The status of an item `sharing` after a settlement found no share: owed again, or dropped if the order has
// stopped since.
ItemStatus after_absent_share(PendingActionKind pending);

}  // namespace presetbridge::domain
