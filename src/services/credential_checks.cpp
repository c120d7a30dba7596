#include "services/credential_checks.h"

#include <utility>

namespace presetbridge::services {
namespace {

// One at a time, so that stop() waits for one login only.
constexpr int kPiece = 1;

}  // namespace

void CredentialChecks::start() {
  running_ = true;
  spawn(loop(), [this](Outcome<void> outcome) {
    running_ = false;
    if (outcome.exception) log_.error("the checks of saved logins have ended by a fault");
    ended();
  });
}

void CredentialChecks::stop(Callback stopped) {
  stopping_ = true;
  stopped_ = std::move(stopped);
  wakeup_.notify();
  ended();
}

void CredentialChecks::ended() {
  if (stopping_ && !running_ && stopped_) std::exchange(stopped_, {})();
}

Task<void> CredentialChecks::loop() {
  while (!stopping_) {
    auto tried = co_await vault_.check_due(scheduler_, kPiece);
    if (!tried && !storage::is_told(tried.error()))
      log_.warn("saved logins could not be checked", {{"error", tried.error().message}});
    if (tried && *tried == kPiece) continue;
    co_await wakeup_.wait(poll_);
  }
}

}  // namespace presetbridge::services
