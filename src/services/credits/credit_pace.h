// How fast an account uses its credits, and until when they last (spec 11.2).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "domain/credits.h"
#include "storage/database.h"

namespace presetbridge::services {

struct CreditPace {
  // Credits a day, on average over the last seven days, or since the account was made, one day at least.
  // Where more than kMostPaceEntries of the ledger are of that time, over the time of so many.
  std::int64_t per_day_hundredths = 0;   // rounded
  std::optional<Timestamp> runs_out_at;  // at that pace; nothing: never, or beyond ten years
};
inline constexpr int kMostPaceEntries = 2'000;

// Reads so many entries of the ledger at most.
CreditPace credit_pace(storage::Tx& tx, AccountId account, const domain::Balance& balance);

}  // namespace presetbridge::services
