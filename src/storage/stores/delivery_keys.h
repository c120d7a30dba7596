// The keys by which deliveries are found (spec 8.5): rows of delivery_keys, which are written with the
// delivery and which its jobs leave. delivery_search.h reads them.
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

// The most that the time in an id, which a node's clock gave, may differ from that of its row.
inline constexpr Millis kIdFromRow = std::chrono::minutes{10};

// Everything that one delivery is found by.
struct DeliveryKeys {
  AccountId account;
  DeliveryId delivery;
  std::string_view order_key;
  std::string_view order_number;
  std::string_view username;
  std::string_view email;
  std::vector<std::string_view> files;
};
// The form in which searches and keys are compared: NFC, case folded, cut to 100 bytes.
std::string folded_key(std::string_view text);
// Keys that exist already stay.
void insert_delivery_keys(Tx& tx, std::span<const DeliveryKeys> keys);
// From now on the delivery is found by `now` instead of `before`; an empty text has no key.
enum class KeyOf : char { email = 'e', number = 'n', username = 'u' };
void replace_delivery_key(Tx& tx, AccountId account, DeliveryId delivery, KeyOf kind, std::string_view before,
                          std::string_view now);
// Deletes these keys, so that nobody finds the deliveries by these names any more (spec 9.6).
struct NameOfDelivery {
  AccountId account;
  DeliveryId delivery;
  KeyOf kind;
  std::string name;
};
void delete_delivery_keys(Tx& tx, std::span<const NameOfDelivery> names);

// How many of the account's deliveries have each file, in the order of the files; `most` at most.
std::vector<std::int64_t> count_deliveries_with(Tx& tx, AccountId account, std::span<const std::string> files,
                                                std::int64_t most);

// Writes the keys of the next deliveries that an older program may have written, at most `limit`; returns
// how many it read. 0: it has reached the newest one, and has nothing more to do once a week has passed.
int fill_delivery_keys(Tx& tx, int limit);

}  // namespace presetbridge::storage
