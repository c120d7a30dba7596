// Customers: the friendship of one cloud account with one buyer, and that pair's place in the queue. One job
// at a time runs for each (spec 3.2): the job holds the row's lease, and every result carries its fence
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

// What is known of a friendship. `requesting`: a request was begun, or is being taken back, and the outcome
// is not known.
enum class Friendship { unknown, none, requesting, requested, friends, declined, blocked };
std::string_view to_string(Friendship f);

enum class QueueState { idle = 0, queued = 1, leased = 2, leased_more = 3 };

struct CustomerRow {
  CustomerId id;
  CloudAccountId cloud_account;
  std::string username_key;   // the username, case-folded
  std::string cloud_user_id;  // empty until resolved
  Friendship friendship = Friendship::unknown;
  std::optional<Timestamp> requested_at;
  std::optional<Timestamp> friendship_changed_at;  // the platform's time of the newest change a sweep told of
  bool withdraw = false;
  QueueState queue_state = QueueState::idle;
  domain::JobClass job_class = domain::JobClass::first_request;
  Timestamp due_at{};
  std::int64_t fence = 0;
  std::string lease_owner;
  std::optional<Timestamp> lease_expires_at;
  domain::FailingCalls failing;  // outside of any outage of the account (spec 3.5)
  bool ask_anew = false;         // the request that stands is taken back, and made again (spec 3.5)
  DeliveryId probed_delivery;    // a failed one that the next job tries (spec 3.5)

  bool operator==(const CustomerRow&) const = default;
};

// Whether a friend request is out, or may be, that the customer has not answered.
bool request_pending(const CustomerRow& row);

// There is work for the customers of these usernames, who are made with `proposed` as the id if new: queued
// as enqueue_customer() does, to share where the friendship stands, else for a first request. Returns who
// each is.
struct Buyer {
  CloudAccountId cloud_account;
  std::string_view username_key;
  CustomerId proposed;
};
std::vector<CustomerId> enqueue_buyers(Tx& tx, std::span<const Buyer> buyers, Timestamp due_at);
// Those of them that are known already.
std::vector<CustomerId> find_buyers(Tx& tx, std::span<const Buyer> buyers);

std::optional<CustomerRow> find_customer(Tx& tx, CustomerId id);
std::optional<CustomerRow> lock_customer(Tx& tx, CustomerId id);
// Those that there are, locked in the order given.
std::vector<CustomerRow> lock_customers(Tx& tx, std::span<const CustomerId> ids);
// The same, by rising id, without reading the rows: one that cannot be read keeps nobody from the others.
void hold_customers(Tx& tx, std::vector<CustomerId> ids);
std::optional<CustomerRow> find_customer_by_cloud_user(Tx& tx, CloudAccountId cloud_account,
                                                       std::string_view cloud_user_id);
// The same for many; those that are not known have no row.
struct CloudUserKey {
  CloudAccountId cloud_account;
  std::string_view cloud_user_id;
};
std::vector<CustomerRow> find_customers_by_cloud_user(Tx& tx, std::span<const CloudUserKey> users);

// There is work for the customer: it is queued with this class, due at the earlier of both times; while a job
// holds it, the job is told to look again before it ends.
void enqueue_customer(Tx& tx, CustomerId id, domain::JobClass job_class, Timestamp due_at);

// Queued customers of each of the accounts that are due, in class order, then by time; locked, at most
// `limit` of an account.
std::vector<std::vector<CustomerRow>> lock_due_customers(Tx& tx, std::span<const CloudAccountId> accounts,
                                                         Timestamp now, int limit);
// Of each of the classes the one that is due longest, where there is one, locked.
struct ClassOfAccount {
  CloudAccountId account;
  domain::JobClass job_class;
};
std::vector<CustomerRow> lock_due_of_classes(Tx& tx, std::span<const ClassOfAccount> classes, Timestamp now);
// Those of the customers that are queued, whenever they are due, by rising id; locked.
std::vector<CustomerRow> lock_queued_customers(Tx& tx, std::span<const CustomerId> ids);
// When the next queued customer of each of the accounts is due.
std::vector<std::optional<Timestamp>> next_due(Tx& tx, std::span<const CloudAccountId> accounts);
// These get the lease that their rows tell of. Each of them once, and locked.
void lease_customers(Tx& tx, std::span<const CustomerRow> rows);
// The place of a queued customer among its account's queue, from 1; kMostBefore + 1 for all that come later.
inline constexpr std::int64_t kMostBefore = 1'000;
std::int64_t queue_position(Tx& tx, const CustomerRow& customer);
// The same for many, of any accounts: one statement an account. 0: the customer is not queued.
struct QueuePlace {
  std::int64_t position = 0;
  Timestamp due_at{};
};
std::vector<QueuePlace> queue_places(Tx& tx, std::span<const CustomerId> customers);
// How many deliveries are queued, counted no further than `cap`.
std::int64_t count_queued_deliveries(Tx& tx, CloudAccountId account, std::int64_t cap);

// Whether there is a lease of a customer that ran out at `from` or later, or one of a sweep.
bool any_lease_expired(Tx& tx, Timestamp from, Timestamp now);
// Customers whose lease ran out at `from` or later, locked; which, as one row that cannot be read must not
// hide the others.
std::vector<CustomerId> lock_expired_leases(Tx& tx, Timestamp from, Timestamp now, int limit);
// Keeps jobs from the customer until then: a lease is prolonged to that time under a new fence; a customer
// without one becomes due at that time. Reads nothing else of the row, which may not be readable. With a
// `fence` other than 0 only that lease is changed, and no later one.
void postpone_customer(Tx& tx, CustomerId id, std::int64_t fence, Timestamp until);

// Writes a placeholder, which is nobody's name, for the name of those that are of no delivery with a name any
// more (spec 9.6): none that is open or failed, and none of which they got a file. One that is found later,
// in review or ended, finds its customer anew by its own name.
void blank_usernames(Tx& tx, std::span<const CustomerId> ids);

// Writes every field but the name.
void update_customer(Tx& tx, const CustomerRow& row);
// Each of them once.
void update_customers(Tx& tx, std::span<const CustomerRow* const> rows);

}  // namespace presetbridge::storage
