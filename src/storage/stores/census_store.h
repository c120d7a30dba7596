// Counts for the metrics (spec 12.3). Each reads at most kMostCounted rows, and none of deliveries that
// have ended: its cost does not grow with the number of past deliveries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr std::int64_t kMostCounted = 100'000;

struct Backlog {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;  // when the oldest of those counted was made
};

// Deliveries by status: the oldest kMostCounted of those that are queued, processing or
// waiting_for_friendship, and as many at most of those in_review. The map has all four.
std::map<std::string, Backlog> count_deliveries(Tx& tx);
// Outbound webhooks of active subscriptions that wait for their first or next attempt; kMostCounted of them,
// not the oldest, where there are more.
Backlog count_pending_dispatches(Tx& tx);
// The texts of cloud_accounts.trouble (domain/trouble.h) that are not empty, among the oldest 10,000 cloud
// accounts.
std::vector<std::string> account_pauses(Tx& tx);
// Logins that the platform refused and that nobody has replaced, among the oldest 10,000 accounts.
std::int64_t count_refused_logins(Tx& tx);
// The roles, comma-separated, of each node that was seen at `since` or later.
std::vector<std::string> roles_of_nodes(Tx& tx, Timestamp since);

}  // namespace presetbridge::storage
