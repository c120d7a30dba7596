#include "services/vault/credential_checks.h"

#include <utility>

namespace presetbridge::services {
namespace {

// One at a time, so that stop() waits for one login only.
constexpr int kBatch = 1;

}  // namespace

void CredentialChecks::start() {
  tasks_.start_loop(loop(), "credential checks loop");
}

void CredentialChecks::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> CredentialChecks::loop() {
  while (!tasks_.stopping()) {
    auto tried = co_await vault_.check_due(scheduler_, kBatch);
    if (!tried && !storage::is_logged(tried.error()))
      log_.warn("saved logins could not be checked", {{"error", tried.error().message}});
    if (tried && *tried == kBatch) continue;
    co_await tasks_.wait(poll_);
  }
}

}  // namespace presetbridge::services
