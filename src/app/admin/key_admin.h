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

  // Runs request["command"], one of these three, with its arguments. `kinds` is a comma-separated text of
  // vault, service, issuer, links; `begin` and `now` are 1 or 0, and mean what they mean to KeyRotation:
  //   keys                        -> keys [{kind, newest, old, waiting}]
  //   turn-keys kinds begin       -> phase, nodes [{name, lacks}], lookedAt, resealed, left, unreadable
  //   drop-keys kinds begin now   -> done, lookedAt, kinds [{kind, dropped, kept}]
  // Errors: VALIDATION_FAILED (`kinds`); STORAGE_UNAVAILABLE, OVERLOADED and INTERNAL_ERROR; and CONFLICT for
  // every other error of KeyRotation, with its message.
  Task<Expected<boost::json::object>> run(Executor& executor, boost::json::object request);

 private:
  services::KeyRotation& rotation_;
};

}  // namespace presetbridge::app
