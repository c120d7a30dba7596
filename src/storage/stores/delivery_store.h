// Rows of deliveries (spec 3.7). What may change is decided above
// (domain/delivery_machine.h); here a change is a compare-and-set on the row's version.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/item_store.h"

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
      failed_trouble;                     // cloud_unavailable: when the account's trouble began; none: alone
  std::optional<Timestamp> probe_until;   // while failed as cloud_unavailable: probes try it until then
  std::optional<Timestamp> told_request;  // when the friend request was made that it told of
  std::optional<Timestamp> named_at;      // when the username in use was given (spec 2.6)
  std::optional<Timestamp> ended_at;      // completed or invalidated
  std::int64_t link_version = 1;          // of the buyer's link (spec 3.7)
  std::int64_t attempt_count = 0;
  std::optional<Timestamp> next_attempt_at;
  std::int64_t requests_sent = 0;  // friend requests that this delivery told of
  std::int64_t sequence = 0;       // of its newest outbound event
  std::int64_t version = 1;
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> completed_at;
  ApiKeyId api_key;                        // whose request made it; none
  std::optional<CountedDelivery> counted;  // as the statistics know it; insert and update keep it
};

// queued, processing or waiting.
bool is_open(const DeliveryRow& row);

void insert_deliveries(Tx& tx, std::span<DeliveryRow> rows);

std::optional<DeliveryRow> find_delivery(Tx& tx, DeliveryId id);
// Status and code of each; nothing where there is no such delivery.
std::vector<std::optional<std::pair<domain::DeliveryStatus, domain::ResolutionCode>>> find_delivery_standings(
    Tx& tx, std::span<const DeliveryId> ids);
// The same, and other writers of it wait until this transaction ends.
std::optional<DeliveryRow> lock_delivery(Tx& tx, DeliveryId id);
// Those that there are, in the order given.
std::vector<DeliveryRow> find_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// The same, locked.
std::vector<DeliveryRow> lock_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// The customers of the deliveries, those of their usernames, who may be other rows (aliases), and those who
// got or may have got a file of them; each once.
std::vector<CustomerId> customers_of(Tx& tx, std::span<const DeliveryId> ids);
// Locks, by rising id and without reading the rows, the deliveries' customers, those that the deliveries
// would have by their account's login now, those who got or may have got a file of them, and the buyers that
// are known: for whoever comes to a delivery by another way than its customer, which is locked before it
// (docs/architecture.md).
void hold_customers_of(Tx& tx, std::span<const DeliveryId> ids, std::span<const Buyer> buyers = {});
// Locks the deliveries in the order given, without reading the rows.
void hold_deliveries(Tx& tx, std::span<const DeliveryId> ids);
// queued, processing and waiting deliveries of a customer, oldest first, locked.
std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, CustomerId customer);
// Of many customers, at most so many of each, in any order: those in processing first, then queued
// ones, then those that wait; of these what is to be tried first, then the oldest.
std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, std::span<const CustomerId> customers,
                                              int most_of_each);
// Failed deliveries of an account with that code, oldest first, at most `limit`, after `after`. Ids alone,
// here and below: one row that cannot be read must not keep the others from being found.
std::vector<DeliveryId> find_failed_deliveries(Tx& tx, AccountId account, domain::ResolutionCode code,
                                               DeliveryId after, int limit);
// Failed deliveries of a customer, oldest first, locked.
std::vector<DeliveryRow> lock_failed_of_customer(Tx& tx, CustomerId customer);
// Deliveries of an account after `after`, whatever their status, oldest first: for chores over all of them.
std::vector<DeliveryId> find_deliveries_after(Tx& tx, AccountId account, DeliveryId after, int limit);
// Deliveries of the cloud account that wait for an answer since `until` or longer, longest first; and those
// of which a program of before did not write since when.
std::vector<DeliveryId> find_waiting(Tx& tx, CloudAccountId cloud_account, Timestamp until, int limit);
std::vector<DeliveryId> find_waiting_unknown(Tx& tx, CloudAccountId cloud_account, int limit);
// Whether a delivery of the cloud account waits for an answer, or failed for want of one and began to wait
// after `since`.
bool any_awaited(Tx& tx, CloudAccountId cloud_account, Timestamp since);
// Those of the deliveries that the platform's trouble may still keep from their end: open, failed as
// cloud_unavailable, or with a share to be settled or taken back.
std::vector<DeliveryId> find_at_work(Tx& tx, std::span<const DeliveryId> ids);
// Whose jobs of this cloud account work for the deliveries, each once, by rising id: their customers, and
// those with whom a share of them is to be settled.
std::vector<CustomerId> customers_of(Tx& tx, CloudAccountId cloud_account, std::span<const DeliveryId> ids);
// The first after `after` of the cloud account's failed deliveries that probes try.
std::optional<DeliveryId> next_to_probe(Tx& tx, CloudAccountId cloud_account, DeliveryId after);
// Queued dry runs of the account, oldest first.
std::vector<DeliveryId> find_dry_runs(Tx& tx, AccountId account, int limit);
// The first account after `after` that has any.
std::optional<AccountId> next_with_dry_runs(Tx& tx, AccountId after);

// Writes every field that may change, where the stored version is still row.version; then row.version has
// grown by one, and row.updated_at is now, or as it was where that is later. Throws DbError(conflict)
// otherwise: the row was locked by lock_delivery() and cannot have changed.
void update_delivery(Tx& tx, DeliveryRow& row);
// The same for many, each of them once.
void update_deliveries(Tx& tx, std::span<DeliveryRow* const> rows);

}  // namespace presetbridge::storage
