#include "services/worker/platform_health.h"

#include <algorithm>
#include <chrono>

namespace presetbridge::services {

void PlatformHealth::answered() {
  unanswered_ = 0;
  if (!away_) return;
  away_ = false;
  const auto away = std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - since_);
  log_.warn("the cloud platform answers again", {{"seconds", std::int64_t{away.count()}}});
  metrics_.set("presetbridge_cloud_platform_up", 1);
}

void PlatformHealth::unanswered(std::string_view error) {
  const auto now = clock_.now();
  if (unanswered_ == 0) since_ = now;
  unanswered_ = std::min(unanswered_ + 1, kCalls);
  if (away_ || unanswered_ < kCalls || now - since_ < kFor) return;
  away_ = true;
  log_.error("the cloud platform does not answer", {{"error", error}});
  metrics_.set("presetbridge_cloud_platform_up", 0);
}

}  // namespace presetbridge::services
