// `presetbridge vault init`: makes the key files that are missing (spec 5.4).
#pragma once

#include "app/config/config.h"

namespace presetbridge::app {

// Makes no new ones beside a database that only the lost ones open. `replace_lost`: nobody has the vault's any
// more, so new ones are made, and every login must be saved again. An exit code, see outcome.h.
int run_vault_init(const Config& config, bool replace_lost);

}  // namespace presetbridge::app
