#include "app/process/hardening.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace presetbridge::app {

bool harden_process() {
  const rlimit none{0, 0};
  return ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && ::setrlimit(RLIMIT_CORE, &none) == 0;
}

}  // namespace presetbridge::app
