// The keys at rest of the running service (spec 5.4): the watch over them, and the operator's commands for them.
#pragma once

#include "app/admin/key_admin.h"
#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "app/service/components.h"
#include "services/keys/key_rotation.h"
#include "services/keys/key_watch.h"

namespace presetbridge::app {

// Thread-safe.
class KeyParts {
 public:
  struct Ports {
    Scheduler& scheduler;
    storage::AsyncDatabase& async_db;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
    crypto::ServiceCipher& cipher;
    crypto::SealingVaultKey& vault_key;
    cloud::VaultKeeper& keeper;
    identity::BuiltInIssuer& issuer;
    identity::BuiltInIssuer& operators_issuer;  // of the same keys
    services::LinkKeys& links;
    std::function<void()> lost;  // KeyWatch
  };
  // `node` and `number`: of this process. All that `ports` names outlives this.
  KeyParts(Ports ports, const Config& config, const DataDirectory& directory, const std::string& node,
           int number);

  // As what works in the background, on `core`, which is that of the scheduler.
  void add_to(Components& components, int core) {
    components.add(core, watch_, "the watch over the keys did not end");
  }

  KeyAdmin& admin() { return admin_; }

 private:
  Task<Expected<void>> refresh(Executor& executor);

  const Ports ports_;
  services::KeyWatch watch_;
  services::KeyRotation rotation_;
  KeyAdmin admin_{rotation_};
};

}  // namespace presetbridge::app
