// Which keys a database's secrets are sealed with, by the ids that their files name: nodes whose files are of
// another deployment are found out before they write what the others cannot open.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

enum class KeyUse { service, vault };

// Of all keys that were ever used, in no order.
std::vector<std::string> used_keys(Tx& tx, KeyUse use);
// When it was noted first; nothing: it is not used.
std::optional<Timestamp> key_used_since(Tx& tx, KeyUse use, std::string_view id);
// Nothing happens if it is known.
void note_used_key(Tx& tx, KeyUse use, std::string_view id);
// What they sealed is given up.
void forget_used_keys(Tx& tx, KeyUse use);
// Nothing is sealed with it any more (spec 5.4).
void forget_used_key(Tx& tx, KeyUse use, std::string_view id);

}  // namespace presetbridge::storage
