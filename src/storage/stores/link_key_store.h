// The keys that buyers' links are derived with (spec 3.7), encrypted before they come here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct LinkKeyRow {
  std::int64_t id;  // of a newer key: greater
  std::vector<std::byte> encrypted_key;
  Timestamp created_at;
};

// A key is encrypted for the crypto::ValuePlace {kLinkKey, id}.
inline constexpr std::string_view kLinkKey = "link_keys.encrypted_key";

// The number of keys that open links: a link that the previous key made is good until that key is deleted.
// An older program reads the newest two.
inline constexpr int kLinkKeysInUse = 2;

// The keys in use, newest first.
std::vector<LinkKeyRow> find_link_keys(Tx& tx);
void insert_link_key(Tx& tx, const LinkKeyRow& row);
void delete_link_key(Tx& tx, std::int64_t id);

// A delivery with the members on which the life of its link depends.
struct LinkedDelivery {
  DeliveryId id;
  domain::DeliveryStatus status;
  Timestamp ended;  // only meaningful where it is completed or invalidated
};
// Deliveries with ids between `after` and `end`, in the order of their ids, at most `limit`.
std::vector<LinkedDelivery> list_linked_deliveries(Tx& tx, std::int64_t after, std::int64_t end, int limit);

}  // namespace presetbridge::storage
