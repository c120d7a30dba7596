// What deliveries are found by (spec 8.5): rows of delivery_keys, written with the delivery and not touched by
// its jobs. delivery_search.h looks them up.
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

// Between the time in an id, which a node's clock gave, and its row's, with what may lie between the two.
inline constexpr Millis kIdFromRow = std::chrono::minutes{10};

// What a delivery is found by.
struct DeliveryKeys {
  AccountId account;
  DeliveryId delivery;
  std::string_view order_key;
  std::string_view order_number;
  std::string_view username;
  std::string_view email;
  std::vector<std::string_view> files;
};
// As searches and keys are compared: NFC, case folded, cut to 100 bytes.
std::string folded_key(std::string_view text);
// Those that are there already stay.
void insert_delivery_keys(Tx& tx, std::span<const DeliveryKeys> keys);
// From now on the delivery is found by the new one alone. Empty: none.
enum class KeyOf : char { email = 'e', number = 'n', username = 'u' };
void replace_delivery_key(Tx& tx, AccountId account, DeliveryId delivery, KeyOf kind, std::string_view before,
                          std::string_view now);
// The people of the deliveries are found no more (spec 9.6), by any of these names.
struct NameOfDelivery {
  AccountId account;
  DeliveryId delivery;
  KeyOf kind;
  std::string name;
};
void delete_delivery_keys(Tx& tx, std::span<const NameOfDelivery> names);

// Of each of the account's files, in their order: deliveries that have it, `most` at most.
std::vector<std::int64_t> count_deliveries_with(Tx& tx, AccountId account, std::span<const std::string> files,
                                                std::int64_t most);

// Gives the next deliveries that a program of before may have written their keys, at most `limit`; returns
// how many it looked at. 0: it has come to the newest one, and has done its part once a week has gone by.
int fill_delivery_keys(Tx& tx, int limit);

}  // namespace presetbridge::storage
