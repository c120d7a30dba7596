// The keys by which deliveries are found (spec 8.5): rows of delivery_keys, which are written with the
// delivery and not changed by its jobs. delivery_search.h reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The greatest difference between the time in an id, which a node's clock gave, and the time in its row.
inline constexpr Millis kIdFromRow = std::chrono::minutes{10};

// The texts by which one delivery is found; an empty one has no key.
struct DeliveryKeys {
  AccountId account;
  DeliveryId delivery;
  std::string_view order_key;
  std::string_view order_number;
  std::string_view username;
  std::string_view email;
  std::vector<std::string_view> files;
};
// The form in which searches and keys are compared: no leading '#', NFC, case folded, cut to 100 bytes.
std::string folded_key(std::string_view text);
// Adds the keys of each delivery, but those that it has already.
void insert_delivery_keys(Tx& tx, std::span<const DeliveryKeys> keys);
// From now on the delivery is found by `now` instead of `before`; an empty text has no key.
enum class KeyOf : char { email = 'e', number = 'n', username = 'u' };
void replace_delivery_key(Tx& tx, AccountId account, DeliveryId delivery, KeyOf kind, std::string_view before,
                          std::string_view now);
// Deletes the keys of these names, so that no search finds the deliveries by them any more (spec 9.6).
struct NameOfDelivery {
  AccountId account;
  DeliveryId delivery;
  KeyOf kind;
  std::string name;
};
void delete_delivery_keys(Tx& tx, std::span<const NameOfDelivery> names);

// For each file, in the order given, the number of the account's deliveries that have it, or `most` if there
// are more.
std::vector<std::int64_t> count_deliveries_with(Tx& tx, AccountId account, std::span<const std::string> files,
                                                std::int64_t most);

// Writes the keys of the next deliveries, at most `limit`, which an older program may have written without
// keys; returns how many deliveries it read. It covers those that were made until a week after its first call,
// each once it is older than kIdFromRow. 0: none of them is left.
int fill_delivery_keys(Tx& tx, int limit);

}  // namespace presetbridge::storage
