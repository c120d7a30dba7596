// The loop that checks logins which were saved while the cloud platform was away (spec 3.5, 5.1).
#pragma once

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "services/vault/vault.h"

namespace presetbridge::services {

// Lives on `scheduler`, where all of it is called. Of several nodes one takes each login.
class CredentialChecks {
 public:
  CredentialChecks(Scheduler& scheduler, Vault& vault, Log& log, Millis poll = std::chrono::seconds{15})
      : scheduler_(scheduler),
        vault_(vault),
        log_(log),
        poll_(poll),
        tasks_(scheduler, {.log = log, .message = "the checks of saved logins have ended by a fault"}) {}

  void start();
  // `stopped` is called once, when the login under way has ended.
  void stop(Callback stopped);

 private:
  Task<void> loop();

  Scheduler& scheduler_;
  Vault& vault_;
  Log& log_;
  const Millis poll_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
