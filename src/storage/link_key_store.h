// The keys that buyers' links are derived with (spec 3.7), encrypted before they come here.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

struct LinkKeyRow {
  std::int64_t id;  // of a newer key: greater
  std::vector<std::byte> encrypted_key;
  Timestamp created_at;
};

// How many keys open links: a new key ends none that the one before it made.
inline constexpr int kLinkKeysInUse = 2;

// Those in use, newest first.
std::vector<LinkKeyRow> find_link_keys(Tx& tx);
void insert_link_key(Tx& tx, const LinkKeyRow& row);

}  // namespace presetbridge::storage
