// What a job began with a login that was replaced since by one of another cloud user (spec 3.11): an unknown
// share, a revocation. While a session of that login may be left, they wait for a worker that has it.
#pragma once

#include <string_view>

#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"

namespace presetbridge::services {

// Why what is out of reach ended, as the end of a sentence.
inline constexpr std::string_view kLoginReplaced =
    "the cloud login that it was shared with is not stored any more";

// Whether nobody can make this call any more, whose account has a login of another user: an hour after that
// was saved no session of the former one is left.
bool out_of_reach(DeliverySet& set, const Job& job, const Call& call);

// conclude_settled() for the item of the call, which has one; and its delivery, which may have waited for it
// in the queue of another customer by now, that of the login of now, is due there at once.
void conclude_looked_up(DeliverySet& set, CustomerId customer, const Call& call);

}  // namespace presetbridge::services
