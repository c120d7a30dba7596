#include "services/credits/credit_pace.h"

#include <algorithm>

#include "base/id_time.h"
#include "storage/stores/credit_store.h"

namespace presetbridge::services {
namespace {

constexpr Millis kDay = std::chrono::days{1};
constexpr Millis kWindow = std::chrono::days{7};
constexpr Millis kFarthest = std::chrono::days{3'650};

}  // namespace

CreditPace credit_pace(storage::Tx& tx, AccountId account, const domain::Balance& balance) {
  const auto now = tx.now();
  const LedgerId first{first_id_at(now - kWindow)};
  const auto spent = count_spent(tx, account, first, kMostPaceEntries);
  if (spent.credits == 0) return {};
  auto span = std::clamp(now - made_at(account.value), kDay, kWindow);
  if (spent.entries == kMostPaceEntries)
    span = std::clamp(now - made_at(spent.oldest.value), Millis{1'000}, kWindow);
  CreditPace pace{.per_day_hundredths =
                      (100 * spent.credits * kDay.count() + span.count() / 2) / span.count()};
  const auto available = std::max<std::int64_t>(balance.available(), 0);
  if (available / spent.credits < kFarthest / span) pace.runs_out_at = now + span * available / spent.credits;
  return pace;
}

}  // namespace presetbridge::services
