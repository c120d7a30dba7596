// How long rows are kept (spec 7.4, 9.6), as the settings say.
#pragma once

#include <chrono>

#include "app/config/config.h"
#include "services/figures/overview.h"
#include "services/operation/housekeeping.h"
#include "storage/stores/activity_store.h"

namespace presetbridge::app {

// Housekeeping folds whole days (UTC) at its rounds, so a quarter of an hour may be two days older than the
// setting. Quarters are found until then, and the overview compares with quarters alone.
static_assert(std::chrono::days{kMostUsageDays} + std::chrono::days{2} <= storage::kQuartersScanned);
static_assert(std::chrono::days{kFewestUsageDays} > services::kUsualDays);

inline services::Retention retention_of(const Config& config) {
  return {.payloads = std::chrono::days(config.retention_payload_days),
          .outbound = std::chrono::days(config.retention_outbound_days),
          .timelines = std::chrono::days(config.retention_timeline_days),
          .audit_log = std::chrono::days(config.retention_audit_days),
          .activity = std::chrono::days(config.retention_usage_days)};
}

}  // namespace presetbridge::app
