#include "services/stores/refusals.h"

#include <algorithm>

#include "services/stores/integrations.h"

namespace presetbridge::services {

std::optional<Timestamp> last_accepted_at(const storage::StoreActivity& activity) {
  const auto accepted = std::ranges::find(activity.hours, storage::kAccepted, &storage::StoreHour::what);
  return accepted == activity.hours.end() ? std::nullopt : std::optional(accepted->last_at);
}

std::vector<Refusals> refusals_of(const storage::IntegrationRow& store,
                                  const storage::StoreActivity& activity) {
  const auto accepted = last_accepted_at(activity);
  std::vector<Refusals> refusals;
  for (const auto& hour : activity.hours) {
    if (!is_refusal(hour)) continue;
    auto mended = accepted;
    if (hour.what == "INVALID_SIGNATURE") mended = std::max(mended, secret_changed_at(store));
    if (mended && *mended < hour.hour) mended.reset();
    refusals.push_back({.code = hour.what,
                        .events = hour.events,
                        .since = hour.hour,
                        .last_at = hour.last_at,
                        .mended_until = mended});
  }
  return refusals;
}

}  // namespace presetbridge::services
