// Rows of the items of deliveries (spec 3.7, 3.11): one for each file that is owed to a user of the cloud
// platform. A transaction that changes one has locked its delivery.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"

namespace presetbridge::storage {

struct ItemRow {
  ItemId id;
  DeliveryId delivery;
  AccountId account;
  std::string file_id;
  std::string kind;
  std::string name;
  std::string matched_by;
  std::int64_t quantity = 1;
  std::string lines = "[]";  // JSON array of the ids of the order lines that owe it
  domain::ItemStatus status = domain::ItemStatus::owed;
  CustomerId customer;                    // with whom it is, was or may have been shared
  std::string intent_key;                 // the idempotency key of the share begun
  std::optional<Timestamp> settle_after;  // while `sharing`: no look-up before it
  bool held = false;
  bool spent = false;
  std::optional<Timestamp> shared_at;
  std::string user_id;     // the platform's user to whom it is owed; empty until resolved (spec 3.11)
  std::string username;    // of that user, for people
  bool former = false;     // owed to the customer that the delivery had before its name was corrected
  std::string revoked_by;  // "order" or "merchant" while revoking or revoked; empty otherwise
  // The platform was asked to revoke the share, and the outcome is not known: while `revoking`, and after
  // that was given up (`revoke_failed`), until the share is found or made anew, or is known to be gone.
  bool revocation_begun = false;
  // The merchant delivered the file by hand while it was `sharing`: without a share it is `delivered_by_hand`.
  bool by_hand = false;
  // While `sharing` or `revoking`: since when a job knows of no login to settle it with; nothing: there is one.
  std::optional<Timestamp> login_lost_at;
};

void insert_items(Tx& tx, std::span<const ItemRow> rows);

// The items of a delivery as lists show them: those of its present customer that were not dropped.
struct ItemSummary {
  std::int64_t count = 0;
  std::int64_t delivered = 0;  // shared, had before, or delivered by hand
  std::string first_name;      // empty: there is none
  std::string first_owed;      // the name of the first that is owed; empty: none is
};
std::vector<ItemSummary> summarise_items(Tx& tx, std::span<const DeliveryId> deliveries);

// The credits that it would cost to deliver the rest of the deliveries: one for each item that their
// present customers are owed and that was not paid for. Test deliveries cost nothing.
struct CreditsOwed {
  std::int64_t credits = 0;
  bool exact = true;  // false: there may be more; kMostItemsPriced items were read, or a few more
};
inline constexpr std::int64_t kMostItemsPriced = 100'000;
CreditsOwed count_credits_owed(Tx& tx, std::span<const DeliveryId> deliveries);

std::vector<ItemRow> find_items(Tx& tx, DeliveryId delivery);
std::vector<ItemRow> find_items(Tx& tx, std::span<const DeliveryId> deliveries);
// Reads the items without their lines, which may be longer than all else: for jobs, which do not need them.
std::vector<ItemRow> find_items_of_job(Tx& tx, std::span<const DeliveryId> deliveries);
// Items that are, were, or may have been shared with the customers, whatever their delivery; without their
// lines.
std::vector<ItemRow> find_items_of_customers(Tx& tx, std::span<const CustomerId> customers);
// Returns the items of a delivery that were taken back and whose user has the file by another one, as far as the
// items say so that are read: kMostItemsSearched of each of kMostCustomersSearched customers.
inline constexpr std::int64_t kMostItemsSearched = 10'000;
inline constexpr int kMostCustomersSearched = 4;
std::set<ItemId> find_staying_items(Tx& tx, std::span<const ItemRow> items);
// Writes every member that may change but the lines. Each row once.
void update_items(Tx& tx, std::span<const ItemRow* const> rows);
void update_item_lines(Tx& tx, std::span<const ItemRow* const> rows);
void delete_items(Tx& tx, std::span<const ItemRow> rows);

// Blanks the usernames of the items (spec 9.6).
void blank_item_usernames(Tx& tx, std::span<const DeliveryId> deliveries);

}  // namespace presetbridge::storage
