// Work that began with a login which is gone: the look-up of an unknown share, and a revocation. Where the
// login has been replaced by one of another cloud user (spec 3.11), they wait for a worker that has a session
// of it, while one may be left: for an hour. Where the login was deleted, they wait an hour for another one;
// where it was refused or cannot be opened, three days (spec 3.5), for the merchant is asked to save it again.
#pragma once

#include <string_view>

#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"

namespace presetbridge::services {

// Why such work ended, as the end of a sentence.
inline constexpr std::string_view kLoginReplaced =
    "the cloud login that it was shared with is not stored any more";

inline constexpr std::string_view kNoLogin = "its account has had no valid cloud login for too long";

// Whether nobody can make this call any more, where its account has a login of another user: an hour after
// that was saved no session of the former login is left.
bool out_of_reach(DeliverySet& set, const Job& job, const Call& call);

// Whether an item that is `sharing` or `revoking`, and whose login the job has lost, waits no longer: the time
// for a login has passed since a job first met that none is left, and since the login was stored and checked.
// The item's customer is locked.
bool waited_for_login(DeliverySet& set, const Job& job, storage::ItemRow& item);
// Ends that wait for the item of the call, if it is for one: a login has made the call.
void end_wait_for_login(DeliverySet& set, const Call& call);

// conclude_settled() for the item of the call, which is for one. The delivery may wait for that item in the
// queue of another customer, that of the present login, and is then due there at once.
void conclude_looked_up(DeliverySet& set, CustomerId customer, const Call& call);

}  // namespace presetbridge::services
