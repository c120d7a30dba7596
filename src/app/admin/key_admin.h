// The operator's commands for the keys at rest of the running service (spec 5.4), which `presetbridge vault` sends over
// the admin channel.
#pragma once

#include <boost/json/object.hpp>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "services/keys/key_rotation.h"

namespace presetbridge::app {

// Thread-safe.
class KeyAdmin {
 public:
  // `rotation` outlives this.
  explicit KeyAdmin(services::KeyRotation& rotation) : rotation_(rotation) {}

  // {"command": …} and its arguments; `kinds` is comma-separated, of vault, service, issuer, links:
  //   keys                        -> keys [{kind, newest, old, waiting}]
  //   turn-keys kinds begin       -> phase, nodes [{name, lacks}], lookedAt, resealed, left, unreadable
  //   drop-keys kinds begin now   -> done, lookedAt, kinds [{kind, dropped, kept}]
  // Errors: VALIDATION_FAILED; CONFLICT, with the message of KeyRotation's; storage's.
  Task<Expected<boost::json::object>> run(Executor& executor, boost::json::object request);

 private:
  services::KeyRotation& rotation_;
};

}  // namespace presetbridge::app
