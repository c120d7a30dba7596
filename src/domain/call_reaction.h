// The worker's reactions to failed calls of the platform: one table, by call and cause (spec 3.5, 3.6, 3.9,
// 3.10). Carried out by services/worker/step_error.cpp, for sweeps services/worker/sweep_runner.cpp and
// sweep.cpp.
#pragma once

#include "domain/call_failure.h"
#include "domain/delivery.h"
#include "domain/trouble.h"

namespace presetbridge::domain {

enum class Reaction {
  // The failure passes: tried again with exponential backoff, up to 72 hours, and a share that is looked up
  // hourly from then on. A call for one file puts off its delivery alone, and the job goes on; any other ends
  // the job. It counts for an outage of the account.
  retry,
  // Likewise, but the platform answered: it counts for no outage.
  refused,
  // Likewise, and the answer shows that the platform does such calls: it ends the trouble of this one.
  unreachable,
  // Whether the share was made is looked up when the call can have no effect any more; until then the credit
  // stays on hold. Its delivery is put off, as by `retry`.
  settle_later,
  pause,  // until the platform's limit ends
  wait,   // the call was not made: made again half a minute later, and it counts as no failure
  // The account's deliveries fail until another login is saved, or this one opens again; the job goes on for
  // other accounts. Where another has been saved meanwhile, the job goes on with that.
  lose_login,
  log_in,          // and make the call again; a second time in one job: as `retry`, and the job ends
  no_such_user,    // the name leads to nobody: the customer's deliveries fail with the code
  user_gone,       // the name is looked up again; if this job has done so, as no_such_user
  ask_friendship,  // it is looked up again; too often in one job: as `retry`, and the job ends
  blocked,         // the friendship is noted as blocked, and the customer's deliveries fail with the code
  fail_all,        // the customer's deliveries fail with the code
  fail_item,       // the delivery fails with the code once its other items are done
  absent,          // the share was not made: the item is owed again, and its credit is free
  revoked,         // nobody has the file
  not_revoked,     // asking again would never end
  end_withdrawal,  // whoever comes next looks up whether the request stands
  restart          // from the first page: it may be the cursor that was refused; and as `retry`
};

struct CallReaction {
  Reaction reaction;
  ResolutionCode code = ResolutionCode::none;  // of deliveries that fail at once by it
  bool operator==(const CallReaction&) const = default;
};

// `effect_unknown`: the call may have had its effect.
CallReaction react(CallKind call, CallFailure failure, bool effect_unknown);

}  // namespace presetbridge::domain
