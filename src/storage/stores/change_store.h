// Changes of watched accounts, numbered in the order of their commits
// (docs/decisions/0032-live-changes.md).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/changes.h"
#include "storage/database.h"

namespace presetbridge::storage {

// A sequence is comparable only within its generation.
struct WatchPosition {
  std::int64_t generation = 0;
  std::int64_t sequence = 0;  // of the newest change
  bool operator==(const WatchPosition&) const = default;
};

// From the commit on each transaction but those of watch_writers() writes the account's changes, until the
// watch is deleted, which is not before `until`. A watch that exists stays, and may be prolonged; a new one
// gets `generation`, which is an id.
WatchPosition watch_account(Tx& tx, AccountId account, std::int64_t generation, Timestamp until);
// Transactions that may have read which accounts are watched, and are not committed yet. None on SQLite,
// where one writer runs.
std::set<std::string> watch_writers(Tx& tx);
// The position of each account's watch; nothing where there is none.
std::vector<std::optional<WatchPosition>> find_watches(Tx& tx, std::span<const AccountId> accounts);

struct StoredChange {
  std::int64_t sequence = 0;
  std::string kind;
  std::string data;
};
struct ChangesAsked {
  AccountId account;
  std::int64_t generation = 0;
  std::int64_t after = 0;  // a sequence
};
// The next changes of each, in their order; at most `limit` of each.
std::vector<std::vector<StoredChange>> find_changes(Tx& tx, std::span<const ChangesAsked> asked, int limit);

// Tx::conclude() calls it right before the commit.
void write_changes(Tx& tx, Changes changes, std::vector<WrittenChanges>& written);

// A buyer's page has changed when one of these has (spec 13.3).
struct DeliveryMark {
  std::int64_t version = 0;
  std::int64_t link_version = 0;
  Timestamp updated_at;
  bool operator==(const DeliveryMark&) const = default;
};
// Nothing where there is no such delivery.
std::vector<std::optional<DeliveryMark>> find_delivery_marks(Tx& tx, std::span<const DeliveryId> ids);

// Deletes at most `limit` watches that ended before `now`; returns how many.
std::int64_t delete_ended_watches(Tx& tx, Timestamp now, int limit);
std::int64_t delete_old_changes(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
