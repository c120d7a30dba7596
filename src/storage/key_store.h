// Which keys a database's secrets are sealed with, by the ids that their files name: nodes whose files are of
// another deployment are found out before they write what the others cannot open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

enum class KeyUse { service, vault };

// Of all keys that were ever used, in no order.
std::vector<std::string> used_keys(Tx& tx, KeyUse use);
// Nothing happens if it is known.
void note_used_key(Tx& tx, KeyUse use, std::string_view id);
// What they sealed is given up.
void forget_used_keys(Tx& tx, KeyUse use);

}  // namespace presetbridge::storage
