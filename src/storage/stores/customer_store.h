// Customers: the friendship of one cloud account with one buyer, and that pair's position in the queue. One
// job at a time runs for each (spec 3.2): the job holds the row's lease, and every result carries its fence
// (spec 3.4).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "domain/job_class.h"
#include "domain/trouble.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The known state of a friendship. `requesting`: a request was begun, or is being withdrawn, and the
// outcome is not known.
enum class Friendship { unknown, none, requesting, requested, friends, declined, blocked };
std::string_view to_string(Friendship f);

enum class QueueState { idle = 0, queued = 1, leased = 2, leased_more = 3 };

struct CustomerRow {
  CustomerId id;
  CloudAccountId cloud_account;
  std::string username_key;   // the username, exactly as it is written
  std::string cloud_user_id;  // empty until resolved
  Friendship friendship = Friendship::unknown;
  std::optional<Timestamp> requested_at;
  std::optional<Timestamp>
      friendship_changed_at;  // the platform's time of the newest change that a sweep found
  bool withdraw = false;
  QueueState queue_state = QueueState::idle;
  domain::JobClass job_class = domain::JobClass::first_request;
  Timestamp due_at{};
  std::int64_t fence = 0;
  std::string lease_owner;
  std::optional<Timestamp> lease_expires_at;
  domain::FailingCalls failing;  // outside of any outage of the account (spec 3.5)
  // Since the newest request a delivery has asked for another one: the pending request is to be withdrawn, and
  // made again, as long as a delivery asks for it (DeliveryRow::asks_anew, spec 3.5).
  bool ask_anew = false;
  DeliveryId probed_delivery;  // a failed one that the next job attempts again (spec 3.5)

  bool operator==(const CustomerRow&) const = default;
};

// A merchant's customers by friendship. `exact`: false if the merchant has more deliveries than were read.
struct FriendshipCounts {
  std::int64_t requested = 0;  // with those whose request is under way
  std::int64_t friends = 0;
  std::int64_t declined = 0;
  std::int64_t blocked = 0;
  bool exact = true;
};
// Counts the customers of the cloud account to whom the account's newest deliveries go: `most` deliveries at
// most. Other accounts of the cloud account may have customers of their own there (spec 7.3).
FriendshipCounts count_friendships(Tx& tx, AccountId account, CloudAccountId cloud_account,
                                   std::int64_t most);

// Whether a friend request is pending, or may be, that the customer has not answered.
bool request_pending(const CustomerRow& row);

// Queues the customers of these usernames, with `proposed` as the id of a new one, as enqueue_customer()
// does: to share where they are friends, else for a first request. Returns the id of each.
struct Buyer {
  CloudAccountId cloud_account;
  std::string_view username_key;
  CustomerId proposed;
};
std::vector<CustomerId> enqueue_buyers(Tx& tx, std::span<const Buyer> buyers, Timestamp due_at);
// The ids of those of the buyers that have a row, in any order.
std::vector<CustomerId> find_buyers(Tx& tx, std::span<const Buyer> buyers);

std::optional<CustomerRow> find_customer(Tx& tx, CustomerId id);
std::optional<CustomerRow> lock_customer(Tx& tx, CustomerId id);
// Locks and reads the rows that exist, in the order given.
std::vector<CustomerRow> lock_customers(Tx& tx, std::span<const CustomerId> ids);
// Locks the rows that exist by rising id, without reading them: a row that cannot be read does not keep the
// caller from the others. Nothing happens on SQLite, where one writer runs.
void hold_customers(Tx& tx, std::vector<CustomerId> ids);
std::optional<CustomerRow> find_customer_by_cloud_user(Tx& tx, CloudAccountId cloud_account,
                                                       std::string_view cloud_user_id);
// The rows of those users that have one, in any order.
struct CloudUserKey {
  CloudAccountId cloud_account;
  std::string_view cloud_user_id;
};
std::vector<CustomerRow> find_customers_by_cloud_user(Tx& tx, std::span<const CloudUserKey> users);

// Queues the customer with this class, due at `due_at`. If it is queued already, the more urgent of both
// classes and the earlier of both times count. If a job holds it, the row is marked so that the job reads
// it again before it ends.
void enqueue_customer(Tx& tx, CustomerId id, domain::JobClass job_class, Timestamp due_at);

// Locks the due customers of each account, at most `limit` of each: by class, then by time.
std::vector<std::vector<CustomerRow>> lock_due_customers(Tx& tx, std::span<const CloudAccountId> accounts,
                                                         Timestamp now, int limit);
// Locks the customer of each class that has been due longest, where there is one.
struct ClassOfAccount {
  CloudAccountId account;
  domain::JobClass job_class;
};
std::vector<CustomerRow> lock_due_of_classes(Tx& tx, std::span<const ClassOfAccount> classes, Timestamp now);
// Locks those of the customers that are queued, due or not, and that no other transaction has locked; by
// rising id.
std::vector<CustomerRow> lock_queued_customers(Tx& tx, std::span<const CustomerId> ids);
// The time at which the next queued customer of each account is due.
std::vector<std::optional<Timestamp>> next_due(Tx& tx, std::span<const CloudAccountId> accounts);
// Writes the leases of the rows: fence, owner and expiry. Each row once, and locked.
void lease_customers(Tx& tx, std::span<const CustomerRow> rows);
inline constexpr std::int64_t kMostBefore = 1'000;
// The positions of queued customers in the queues of their accounts, from 1, by one statement an account;
// kMostBefore + 1 for all that come later. 0: the customer is not queued.
struct QueuePosition {
  std::int64_t position = 0;
  Timestamp due_at{};
};
std::vector<QueuePosition> queue_positions(Tx& tx, std::span<const CustomerId> customers);
// When the newest friend request to each customer was made, in the order of the ids.
std::vector<std::optional<Timestamp>> find_request_times(Tx& tx, std::span<const CustomerId> customers);
// The number of queued deliveries of queued customers, counted no further than `cap`.
std::int64_t count_queued_deliveries(Tx& tx, CloudAccountId account, std::int64_t cap);

// Whether the lease of a customer ran out at `from` or later, or that of a sweep at any time.
bool any_lease_expired(Tx& tx, Timestamp from, Timestamp now);
// Locks customers whose lease ran out at `from` or later; returns ids alone, since a row that cannot be
// read must not hide the others.
std::vector<CustomerId> lock_expired_leases(Tx& tx, Timestamp from, Timestamp now, int limit);
// Nobody works on the customer before `until`: its lease is extended to then under a new fence, or, without
// a lease, it is due then. For a row that may not be readable. A `fence` other than 0 limits this to the
// lease with that fence.
void postpone_customer(Tx& tx, CustomerId id, std::int64_t fence, Timestamp until);

// Replaces the username by a placeholder, which is nobody's name, for customers that no delivery with a
// username needs any more (spec 9.6): no open or failed delivery of theirs, and none of which they got a
// file, has one. Any other delivery, in review or ended, finds its customer again by its own username.
void blank_usernames(Tx& tx, std::span<const CustomerId> ids);

// Writes every member but id, cloud_account and username_key.
void update_customer(Tx& tx, const CustomerRow& row);
// Each row once.
void update_customers(Tx& tx, std::span<const CustomerRow* const> rows);

}  // namespace presetbridge::storage
