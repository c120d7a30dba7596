// The keys with which a database's secrets are sealed, by the ids in their files. By them a node whose
// files are of another deployment is detected before it writes secrets that the others cannot open.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

enum class KeyUse { service, vault };

// The ids of all keys in use, in no order.
std::vector<std::string> used_keys(Tx& tx, KeyUse use);
// The time at which the key was first noted; nothing: it is not used.
std::optional<Timestamp> key_used_since(Tx& tx, KeyUse use, std::string_view id);
// Nothing happens if it is known.
void note_used_key(Tx& tx, KeyUse use, std::string_view id);
// Forgets all keys of this use: the secrets that they sealed are given up.
void forget_used_keys(Tx& tx, KeyUse use);
// Forgets one key, with which nothing is sealed any more (spec 5.4).
void forget_used_key(Tx& tx, KeyUse use, std::string_view id);

}  // namespace presetbridge::storage
