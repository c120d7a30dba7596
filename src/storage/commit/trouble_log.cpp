#include "storage/commit/trouble_log.h"

#include <chrono>

namespace presetbridge::storage {
namespace {

std::int64_t seconds(Millis time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

void TroubleLog::failed(std::string_view cause) {
  const std::lock_guard lock(mutex_);
  const auto at = now();
  ++failures_;
  last_failure_ = at;
  if (!failing_) {
    failing_ = true;
    since_ = last_line_ = at;
    log_.error("the storage is in trouble", {{"what", what_}, {"cause", cause}});
  } else if (at - last_line_ >= kEvery) {
    last_line_ = at;
    log_.error(
        "the storage is still in trouble",
        {{"what", what_}, {"cause", cause}, {"failures", failures_}, {"seconds", seconds(at - since_)}});
  }
}

void TroubleLog::worked() {
  if (!failing_) return;
  const std::lock_guard lock(mutex_);
  const auto at = now();
  if (!failing_ || (clock_ != nullptr && at - last_failure_ < kCalm)) return;
  failing_ = false;
  log_.warn("the storage works again",
            {{"what", what_}, {"failures", failures_}, {"seconds", seconds(last_failure_ - since_)}});
  failures_ = 0;
}

bool TroubleLog::calm() const {
  if (!failing_) return false;
  const std::lock_guard lock(mutex_);
  return failing_ && (clock_ == nullptr || now() - last_failure_ >= kCalm);
}

}  // namespace presetbridge::storage
