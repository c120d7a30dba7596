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

// A key is encrypted at the place {kLinkKey, id}.
inline constexpr std::string_view kLinkKey = "link_keys.encrypted_key";

// How many keys open links: a new key ends none that the one before it made, until that one is deleted. A
// program of before knows the newest two.
inline constexpr int kLinkKeysInUse = 2;

// Those in use, newest first.
std::vector<LinkKeyRow> find_link_keys(Tx& tx);
void insert_link_key(Tx& tx, const LinkKeyRow& row);
void delete_link_key(Tx& tx, std::int64_t id);

// What a link's life depends on, of deliveries with ids between `after` and `end`, in the order of their ids.
struct LinkedDelivery {
  DeliveryId id;
  domain::DeliveryStatus status;
  Timestamp ended;  // counts where it is completed or invalidated
};
std::vector<LinkedDelivery> list_linked_deliveries(Tx& tx, std::int64_t after, std::int64_t end, int limit);

}  // namespace presetbridge::storage
