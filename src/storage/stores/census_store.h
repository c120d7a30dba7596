// Counts for the metrics (spec 12.3). Each looks at no more than kMostCounted rows, and at none of what is
// over: the cost does not grow with what was ever delivered.
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

// Deliveries that are queued, processing and waiting_for_friendship, the kMostCounted oldest of them
// together; and those that are in_review, so many at most: by status. Each of the four is there.
std::map<std::string, Backlog> count_deliveries(Tx& tx);
// Outbound webhooks that wait for their first or next attempt; kMostCounted of them, not the oldest, where
// there are more.
Backlog count_pending_sends(Tx& tx);
// What cloud_accounts.trouble says (domain/trouble.h), of the oldest 10,000 accounts, for those of them
// that it says something of.
std::vector<std::string> account_pauses(Tx& tx);
// Logins that the platform refused and that nobody has replaced, of the oldest 10,000 merchants' accounts.
std::int64_t count_refused_logins(Tx& tx);
// Of each node that was seen at `since` or later: its roles, comma-separated.
std::vector<std::string> roles_of_nodes(Tx& tx, Timestamp since);

}  // namespace presetbridge::storage
