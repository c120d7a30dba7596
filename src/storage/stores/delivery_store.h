// Rows of deliveries (spec 3.7). domain/delivery_machine.h decides what may change; here a change is a
// compare-and-set on the row's version.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"
#include "storage/stores/activity_store.h"

namespace presetbridge::storage {

struct DeliveryRow {
  DeliveryId id;
  AccountId account;
  IntegrationId integration;
  std::string order_key;
  domain::DeliveryStatus status = domain::DeliveryStatus::queued;
  domain::ResolutionCode resolution = domain::ResolutionCode::none;
  std::string message;
  std::string reason;  // of an invalidation or a review; empty if none
  domain::InvalidatedBy invalidated_by = domain::InvalidatedBy::nobody;
  std::string username;  // normalised; empty if none is known
  std::string raw_username;
  std::string email;
  CloudAccountId cloud_account;
  CustomerId customer;
  bool refunded = false;
  bool cancelled = false;
  bool dry_run = false;
  domain::PendingAction pending;           // spec 3.3; kind none if there is none
  domain::ReviewReasons review_reasons;    // while in review; none otherwise
  std::optional<Timestamp> waiting_since;  // first waited since creation, retry or approval (spec 3.5)
  std::optional<Timestamp>
      failed_trouble;                    // cloud_unavailable: when the account's trouble began; none: alone
  std::optional<Timestamp> probe_until;  // while failed as cloud_unavailable: it is probed until then
  std::optional<Timestamp>
      reported_request;               // when the newest friend request was made that an event reported
  std::optional<Timestamp> named_at;  // when the username in use was given (spec 2.6)
  std::optional<Timestamp> ended_at;  // completed or invalidated
  std::int64_t link_version = 1;      // of the buyer's link (spec 3.7)
  std::int64_t attempt_count = 0;
  std::optional<Timestamp> next_attempt_at;
  std::int64_t requests_sent = 0;  // friend requests that this delivery reported
  bool asks_anew = false;          // a retry of it wants a new friend request (CustomerRow::ask_anew)
  std::int64_t sequence = 0;       // of its newest outbound event
  std::int64_t version = 1;
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> completed_at;
  ApiKeyId api_key;                        // the key whose request made it; may be none
  std::optional<CountedDelivery> counted;  // how the statistics count it; insert and update set it
};

// queued, processing or waiting.
bool is_open(const DeliveryRow& row);

// Sets `counted` of each row.
void insert_deliveries(Tx& tx, std::span<DeliveryRow> rows);

std::optional<DeliveryRow> find_delivery(Tx& tx, DeliveryId id);
// The part of a delivery that the list of orders shows.
struct DeliveryStanding {
  domain::DeliveryStatus status{};
  domain::ResolutionCode resolution = domain::ResolutionCode::none;
  std::string username;  // normalised; empty if none is known
  bool dry_run = false;
};
// In the order of the ids; nothing where there is no such delivery.
std::vector<std::optional<DeliveryStanding>> find_delivery_standings(Tx& tx, std::span<const DeliveryId> ids);
// Returns the deliveries among `ids` that a person invalidated.
std::set<DeliveryId> find_invalidated_by_merchant(Tx& tx, std::span<const DeliveryId> ids);
// Locks the row until this transaction ends.
std::optional<DeliveryRow> lock_delivery(Tx& tx, DeliveryId id);
// The rows that exist, in the order given.
std::vector<DeliveryRow> find_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// Locks and reads the rows that exist, in the order given.
std::vector<DeliveryRow> lock_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// Locks the deliveries in the order given, without reading the rows. Nothing happens on SQLite, where one
// writer runs.
void hold_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// Locks the open deliveries of a customer, oldest first.
std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, CustomerId customer);
// Locks open deliveries of many customers, at most `most_of_each` of each, in any order. Deliveries in
// processing are preferred, then queued ones, then those that wait; among these the one with the earliest
// next attempt, then the oldest.
std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, std::span<const CustomerId> customers,
                                              int most_of_each);
// Locks the failed deliveries of a customer, oldest first.
std::vector<DeliveryRow> lock_failed_of_customer(Tx& tx, CustomerId customer);
// Locks the deliveries of a customer that failed because a friend request was refused or not answered, and that
// have waited since after `after`; oldest first, `limit` at most. `unknown`: since when a row waits that does
// not say.
std::vector<DeliveryRow> lock_unanswered_of_customer(Tx& tx, CustomerId customer, Timestamp unknown,
                                                     Timestamp after, int limit);

// Writes every member that may change, if the stored version is still row.version; then row.version has
// grown by one, row.updated_at is now, or as it was where that is later, and row.counted follows. Throws
// DbError(conflict) otherwise: the row was locked by lock_delivery() and cannot have changed.
void update_delivery(Tx& tx, DeliveryRow& row);
// Writes many rows by that contract, each once.
void update_deliveries(Tx& tx, std::span<DeliveryRow* const> rows);

}  // namespace presetbridge::storage
