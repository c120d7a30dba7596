// Changes of watched accounts, numbered in the order of their commits (docs/decisions/0032-live-changes.md).
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

// Numbers of another generation are others' numbers.
struct WatchPosition {
  std::int64_t generation = 0;
  std::int64_t sequence = 0;  // of the newest change
  bool operator==(const WatchPosition&) const = default;
};

// From the commit on, until somebody deletes the watch, which is not before `until`, each transaction writes
// the account's changes, but those of watch_writers(). One that there is stays, and may be prolonged; a new
// one has the generation given, an id.
WatchPosition watch_account(Tx& tx, AccountId account, std::int64_t generation, Timestamp until);
// Transactions that may have looked whether their accounts are watched, and are not committed yet. None on
// SQLite, where one writer runs.
std::set<std::string> watch_writers(Tx& tx);
// Nothing where there is no watch.
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
// For each the next ones, at most `limit`, in their order.
std::vector<std::vector<StoredChange>> find_changes(Tx& tx, std::span<const ChangesAsked> asked, int limit);

// Right before the commit: Tx::conclude().
void write_changes(Tx& tx, Changes changes, std::vector<WrittenChanges>& written);

// What tells that a buyer's page has changed (spec 13.3).
struct DeliveryMark {
  std::int64_t version = 0;
  std::int64_t link_version = 0;
  Timestamp updated_at;
  bool operator==(const DeliveryMark&) const = default;
};
// Nothing where there is no such delivery.
std::vector<std::optional<DeliveryMark>> find_delivery_marks(Tx& tx, std::span<const DeliveryId> ids);

// Watches that nobody has prolonged to `now`; returns how many.
std::int64_t delete_ended_watches(Tx& tx, Timestamp now, int limit);
std::int64_t delete_old_changes(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
