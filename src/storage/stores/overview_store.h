// What stands now, counted for the overview (spec 13.1): each count looks at so many rows at most, found by
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
inline constexpr std::int64_t kMostLookedAt = 1'000;   // mappings of a store, and privacy requests

struct Standing {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;  // when the first of them was made
};
// Of each store, in their order: its deliveries of that status.
std::vector<Standing> count_standing(Tx& tx, std::span<const IntegrationId> stores,
                                     domain::DeliveryStatus status);
// Of the deliveries of these stores that wait for their customers: since when the first made of each waits;
// the earliest of these.
std::optional<Timestamp> find_oldest_waiting(Tx& tx, std::span<const IntegrationId> stores);
// The account's failed deliveries, by code, those without any left out.
struct FailedFor {
  domain::ResolutionCode code{};
  Standing standing;
};
std::vector<FailedFor> count_failed(Tx& tx, AccountId account);
// Of one store, among its kMostStanding oldest.
std::vector<FailedFor> count_failed(Tx& tx, IntegrationId store);
// Requests that the merchant has not closed; among the oldest kMostLookedAt those of the store, if one is
// named.
Standing count_open_privacy_requests(Tx& tx, AccountId account, std::optional<IntegrationId> store);
// Of each store: those of its first kMostLookedAt mappings that are stale.
std::vector<std::int64_t> count_stale_mappings(Tx& tx, std::span<const IntegrationId> stores);

// Files that mappings of the store deliver, at most `limit`; returns how many mappings were read.
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

// What has been there once.
bool any_test_delivered(Tx& tx, AccountId account);
bool any_delivered(Tx& tx, std::span<const IntegrationId> stores);

}  // namespace presetbridge::storage
