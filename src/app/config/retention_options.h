// How long rows are kept (spec 7.4, 9.6), as the settings say.
#pragma once

#include <chrono>

#include "app/config/config.h"
#include "services/operation/housekeeping.h"

namespace presetbridge::app {

inline services::Retention retention_of(const Config& config) {
  return {.payloads = std::chrono::days(config.retention_payload_days),
          .outbound = std::chrono::days(config.retention_outbound_days),
          .timelines = std::chrono::days(config.retention_timeline_days),
          .audit_log = std::chrono::days(config.retention_audit_days),
          .activity = std::chrono::days(config.retention_usage_days)};
}

}  // namespace presetbridge::app
