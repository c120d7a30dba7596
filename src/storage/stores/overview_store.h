// Counts of the present state for the overview (spec 13.1): each reads a bounded number of rows, found by
// an index, whatever the account's history.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr std::int64_t kMostStanding = 10'000;  // a larger count is this one
inline constexpr std::int64_t kMostRead = 1'000;       // mappings of a store, and privacy requests

struct Standing {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;  // when the first of them was made
};
// The deliveries of each store with that status, in the order of the stores.
std::vector<Standing> count_standing(Tx& tx, std::span<const IntegrationId> stores,
                                     domain::DeliveryStatus status);
// Since when a delivery has waited for its customer: the earliest such time among the kMostWaiting oldest waiting
// deliveries of each store. The oldest one may have begun to wait anew.
inline constexpr std::int64_t kMostWaiting = 100;
std::optional<Timestamp> find_oldest_waiting(Tx& tx, std::span<const IntegrationId> stores);
// The account's failed deliveries by code, without codes that have none.
struct FailedFor {
  domain::ResolutionCode code{};
  Standing standing;
};
std::vector<FailedFor> count_failed(Tx& tx, AccountId account);
// The failed deliveries of one store by code, among its kMostStanding oldest.
std::vector<FailedFor> count_failed(Tx& tx, IntegrationId store);
// Privacy requests that the merchant has not closed, among the oldest kMostRead; only those of the store,
// if one is given. `oldest` is the first that asks for a buyer's data, which the merchant has to answer.
Standing count_open_privacy_requests(Tx& tx, AccountId account, std::optional<IntegrationId> store);
// The number of stale mappings among the first kMostRead of each store.
std::vector<std::int64_t> count_stale_mappings(Tx& tx, std::span<const IntegrationId> stores);

// Calls `fn` for the file of each of the store's mappings that delivers one; reads at most `limit`
// mappings, and returns how many.
struct MappedFile {
  std::string id;
  std::string name;
  std::string kind;
  std::string match_type;
  std::string match_value;  // as the merchant wrote it
  bool stale = false;
};
int each_mapped_file(Tx& tx, IntegrationId store, int limit,
                     const std::function<void(const MappedFile&)>& fn);

// Whether a test order of the account, or an order of one of the stores, was ever delivered.
bool any_test_delivered(Tx& tx, AccountId account);
bool any_delivered(Tx& tx, std::span<const IntegrationId> stores);

}  // namespace presetbridge::storage
