// Work that began with a login which has since been replaced by one of another cloud user (spec 3.11): the
// look-up of an unknown share, and a revocation. While a session of the former login may be left, they wait
// for a worker that has it.
#pragma once

#include <string_view>

#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"

namespace presetbridge::services {

// Why such work ended, as the end of a sentence.
inline constexpr std::string_view kLoginReplaced =
    "the cloud login that it was shared with is not stored any more";

// Whether nobody can make this call any more, where its account has a login of another user: an hour after
// that was saved no session of the former login is left.
bool out_of_reach(DeliverySet& set, const Job& job, const Call& call);

// conclude_settled() for the item of the call, which is for one. The delivery may wait for that item in the
// queue of another customer, that of the present login, and is then due there at once.
void conclude_looked_up(DeliverySet& set, CustomerId customer, const Call& call);

}  // namespace presetbridge::services
