// `presetbridge vault rotate`, `drop` and `keys` (spec 5.4, 12.4). The running service seals and counts
// (key_admin.h); these verbs write the key files, which it never does, and drive it step by step.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/config/config.h"

namespace presetbridge::app {

// `kinds`: of vault, service, issuer, links; empty: all. Progress goes to `err`. Exit codes: 0 done, 1 it did
// not end, and the same command goes on, 3 other nodes lack the new keys first.
int run_vault_rotate(const Config& config, const std::vector<std::string>& kinds, std::ostream& out,
                     std::ostream& err);
// Gives up old keys, and removes those of the files from this node's; 1: something is under one of them.
int run_vault_drop(const Config& config, const std::vector<std::string>& kinds, bool now, std::ostream& out,
                   std::ostream& err);
int run_vault_keys(const Config& config, std::ostream& out, std::ostream& err);

}  // namespace presetbridge::app
