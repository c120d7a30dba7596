#include "storage/stores/customer_store.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "domain/names.h"
#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 7> kFriendshipNames = {
    "unknown", "none", "requesting", "requested", "friends", "declined", "blocked"};

std::optional<Friendship> parse_friendship(std::string_view text) {
  return domain::parse_name<Friendship>(kFriendshipNames, text);
}

// One failing call is spread over columns, as older programs have it; several are one text in failing_call,
// which older programs read as none.
const domain::FailingCall* only_failing(const CustomerRow& c) {
  return c.failing.size() == 1 ? &c.failing.front() : nullptr;
}
std::int64_t failures(const CustomerRow& c) {
  const auto* const one = only_failing(c);
  return one ? one->failures : 0;
}
Param failing_since(const CustomerRow& c) {
  const auto* const one = only_failing(c);
  return one ? Param(one->since) : Param(nullptr);
}
Param failing_call(const CustomerRow& c, Texts& texts) {
  if (c.failing.empty()) return nullptr;
  if (const auto* const one = only_failing(c)) return domain::to_string(one->call);
  return texts.hold(encode(c.failing));
}
Param failing_delivery(const CustomerRow& c) {
  const auto* const one = only_failing(c);
  return one ? id_or_null(one->delivery) : Param(nullptr);
}

constexpr std::tuple kColumns{
    Column{"id", &CustomerRow::id, Update::key},
    Column{"cloud_account_id", &CustomerRow::cloud_account, Update::no},
    Column{"username_key", &CustomerRow::username_key, Update::no},
    Column{"cloud_user_id", &CustomerRow::cloud_user_id, kEmptyIsNull},
    Column{"friendship", &CustomerRow::friendship, kNamed<parse_friendship>},
    Column{"requested_at", &CustomerRow::requested_at},
    Column{"withdraw", &CustomerRow::withdraw},
    Column{"queue_state", &CustomerRow::queue_state, kNumber},
    Column{"job_class", &CustomerRow::job_class, kNumber},
    Column{"due_at", &CustomerRow::due_at},
    Column{"fence", &CustomerRow::fence},
    Column{"lease_owner", &CustomerRow::lease_owner, kEmptyIsNull},
    Column{"lease_expires_at", &CustomerRow::lease_expires_at},
    // These four hold `failing`, which read_failing() reads.
    Computed{"failures", failures},
    Computed{"failing_since", failing_since},
    Computed{"failing_call", failing_call},
    Computed{"failing_delivery", failing_delivery},
    Column{"friendship_changed_at", &CustomerRow::friendship_changed_at},
    Column{"ask_anew", &CustomerRow::ask_anew},
    Column{"probed_delivery", &CustomerRow::probed_delivery, kEmptyIsNull},
};

// 1 and 3 are domain::JobClass share and first_request; the states as in kEnqueue.
static_assert(static_cast<int>(domain::JobClass::share) == 1 &&
              static_cast<int>(domain::JobClass::first_request) == 3);
constexpr Sql kEnqueueNew{
    "INSERT INTO customers (id, cloud_account_id, username_key, queue_state, job_class, due_at)"
    " VALUES ($1, $2, $3, 1, 3, $4) ON CONFLICT (cloud_account_id, username_key) DO NOTHING"};
constexpr Sql kEnqueueKnown{
    "UPDATE customers SET"
    " job_class = CASE WHEN friendship = 'friends' THEN 1"
    " WHEN queue_state = 1 AND job_class < 3 THEN job_class ELSE 3 END,"
    " due_at = CASE WHEN queue_state = 1 AND due_at < $3 THEN due_at ELSE $3 END,"
    " queue_state = CASE WHEN queue_state >= 2 THEN 3 ELSE 1 END"
    " WHERE cloud_account_id = $1 AND username_key = $2 RETURNING id"};
constexpr Sql kFindBuyer{"SELECT id FROM customers WHERE cloud_account_id = $1 AND username_key = $2"};
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM customers WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM customers WHERE id = $1 <for_update>">;
constexpr Sql kFindByCloudUser =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM customers WHERE cloud_account_id = $1 AND cloud_user_id = $2 ORDER BY id LIMIT 1">;
// leased (2) and leased_more (3) become leased_more; idle and queued become queued.
constexpr Sql kEnqueue{
    "UPDATE customers SET"
    " job_class = CASE WHEN queue_state = 1 AND job_class < $2 THEN job_class ELSE $2 END,"
    " due_at = CASE WHEN queue_state = 1 AND due_at < $3 THEN due_at ELSE $3 END,"
    " queue_state = CASE WHEN queue_state >= 2 THEN 3 ELSE 1 END WHERE id = $1"};
constexpr Sql kLockDue =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM customers WHERE cloud_account_id = $1 AND due_at <= $2 AND queue_state = 1"
        " ORDER BY job_class, due_at LIMIT $3 <lock>">;
constexpr Sql kLockDueOfClass =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM customers WHERE cloud_account_id = $1 AND job_class = $2 AND due_at <= $3 AND queue_state = 1"
        " ORDER BY due_at LIMIT 1 <lock>">;
// Each class by the index. A sweep is no job of a customer.
static_assert(domain::kJobClasses == 5);
#define PDB_NEXT_DUE_OF(job_class)                                                       \
  "(SELECT due_at FROM customers WHERE cloud_account_id = $1 AND job_class = " job_class \
  " AND queue_state "                                                                    \
  "= 1 ORDER BY due_at LIMIT 1)"
constexpr Sql kNextDue{"SELECT " PDB_NEXT_DUE_OF("1") ", " PDB_NEXT_DUE_OF("2") ", " PDB_NEXT_DUE_OF(
    "3") ", " PDB_NEXT_DUE_OF("4")};
constexpr Sql kCountQueued{
    "SELECT count(*) FROM (SELECT 1 FROM customers JOIN deliveries ON deliveries.customer_id = customers.id"
    " AND deliveries.open = 1 AND deliveries.status = 'queued'"
    " WHERE customers.cloud_account_id = $1 AND customers.queue_state = 1 LIMIT $2) AS q"};
constexpr Sql kLockQueued =
    sql<"SELECT ", kSelected<kColumns>, " FROM customers WHERE id = $1 AND queue_state = 1 <lock>">;
constexpr Sql kFirstQueued{
    "SELECT id, job_class, due_at FROM customers WHERE cloud_account_id = $1 AND queue_state = 1"
    " ORDER BY job_class, due_at LIMIT $2"};
constexpr Sql kQueuedOf{"SELECT cloud_account_id, due_at FROM customers WHERE id = $1 AND queue_state = 1"};
constexpr Sql kRequestedAt{"SELECT requested_at FROM customers WHERE id = $1"};
constexpr Sql kStillNamed{
    "SELECT 1 FROM customers WHERE id = $1 AND (EXISTS (SELECT 1 FROM deliveries"
    " WHERE deliveries.customer_id = $1 AND deliveries.open = 1 AND deliveries.target_username IS NOT NULL)"
    " OR EXISTS (SELECT 1 FROM deliveries WHERE deliveries.customer_id = $1 AND deliveries.status = 'failed'"
    " AND deliveries.target_username IS NOT NULL)"
    " OR EXISTS (SELECT 1 FROM delivery_items JOIN deliveries ON deliveries.id = delivery_items.delivery_id"
    " WHERE delivery_items.customer_id = $1 AND deliveries.target_username IS NOT NULL))"};
constexpr Sql kBlank{"UPDATE customers SET username_key = $2 WHERE id = $1"};
constexpr Sql kAnyExpired{
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM customers WHERE lease_expires_at IS NOT NULL"
    " AND lease_expires_at >= $1 AND lease_expires_at <= $2)"
    " OR EXISTS (SELECT 1 FROM cloud_accounts WHERE sweep_lease_expires_at IS NOT NULL"
    " AND sweep_lease_expires_at <= $2)"};
constexpr Sql kLockExpired{
    "SELECT id FROM customers WHERE lease_expires_at IS NOT NULL AND lease_expires_at >= $1"
    " AND lease_expires_at <= $2 ORDER BY lease_expires_at LIMIT $3 <lock>"};
// 2: QueueState::leased.
constexpr Sql kLease{
    "UPDATE customers SET queue_state = 2, fence = $2, lease_owner = $3, lease_expires_at = $4 WHERE id = "
    "$1"};
constexpr Sql kPostponeLease{
    "UPDATE customers SET fence = fence + 1, lease_expires_at = $2 WHERE id = $1 AND lease_expires_at IS NOT "
    "NULL AND ($3 = 0 OR fence = $3)"};
constexpr Sql kPostponeDue{"UPDATE customers SET due_at = $2 WHERE id = $1 AND lease_expires_at IS NULL"};
constexpr Sql kUpdate = sql<"UPDATE customers SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;

// None in a row of a program that did not know which call failed: the next failure begins it. None either
// in a row that such a program has written over in part.
domain::FailingCalls read_failing(const Row& r) {
  constexpr int calls = column_of<kColumns>("failing_call");
  constexpr int since = column_of<kColumns>("failing_since");
  if (r.is_null(calls)) return {};
  if (r.is_null(since)) return domain::decode_failing_calls(r.text(calls)).value_or(domain::FailingCalls{});
  const auto call = domain::parse_call_kind(r.text(calls));
  if (!call) return {};
  return {{.call = *call,
           .delivery = r.id_or_none<DeliveryId>(column_of<kColumns>("failing_delivery")),
           .failures = r.int64(column_of<kColumns>("failures")),
           .since = r.time(since)}};
}

CustomerRow read_customer(const Row& r) {
  auto c = read_row<CustomerRow, kColumns>(r);
  c.failing = read_failing(r);
  return c;
}

template <class... P>
std::vector<CustomerRow> all_customers(Tx& tx, const Sql& sql, const P&... params) {
  std::vector<CustomerRow> rows;
  tx.query(sql, params..., [&](const Row& r) { rows.push_back(read_customer(r)); });
  return rows;
}

}  // namespace

FriendshipCounts count_friendships(Tx& tx, AccountId account, CloudAccountId cloud_account,
                                   std::int64_t most) {
  // A range: with `account_id = $1` PostgreSQL may read the ids of all accounts instead, where there are few.
  static constexpr Sql newest{
      "SELECT customer_id FROM deliveries WHERE account_id >= $1 AND account_id <= $1"
      " ORDER BY account_id DESC, id DESC LIMIT $2"};
  static constexpr Sql friendship{"SELECT friendship FROM customers WHERE id = $1 AND cloud_account_id = $2"};
  std::int64_t deliveries = 0;
  std::set<CustomerId> customers;
  tx.query(newest, account, most + 1, [&](const Row& r) {
    if (++deliveries <= most && !r.is_null(0)) customers.insert(r.id<CustomerId>(0));
  });
  std::vector<Param> flat;
  for (const auto customer : customers) flat.insert(flat.end(), {customer, cloud_account});
  FriendshipCounts found;
  found.exact = deliveries <= most;
  tx.query_each(friendship, 2, flat, [&](std::size_t, const Row& r) {
    switch (parse_friendship(r.string(0)).value_or(Friendship::unknown)) {
      case Friendship::requesting:
      case Friendship::requested:
        ++found.requested;
        break;
      case Friendship::friends:
        ++found.friends;
        break;
      case Friendship::declined:
        ++found.declined;
        break;
      case Friendship::blocked:
        ++found.blocked;
        break;
      case Friendship::unknown:
      case Friendship::none:
        break;
    }
  });
  return found;
}

std::string_view to_string(Friendship f) {
  return kFriendshipNames[static_cast<std::size_t>(f)];
}

bool request_pending(const CustomerRow& row) {
  return row.friendship == Friendship::requested || row.friendship == Friendship::requesting;
}

std::vector<CustomerId> enqueue_buyers(Tx& tx, std::span<const Buyer> buyers, Timestamp due_at) {
  // In one order, whatever the order of the requests: two nodes cannot wait for each other.
  std::vector<std::size_t> sorted(buyers.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::sort(sorted, {}, [&](std::size_t i) {
    return std::tuple(buyers[i].cloud_account, buyers[i].username_key, i);
  });
  std::vector<Param> flat;
  flat.reserve(4 * buyers.size());
  for (const std::size_t i : sorted)
    flat.insert(flat.end(), {buyers[i].proposed, buyers[i].cloud_account, buyers[i].username_key, due_at});
  // Most buyers are new: with one statement for both cases SQLite would guard each of them with a journal.
  const auto made = tx.insert_each(kEnqueueNew, 4, flat);
  std::vector<CustomerId> ids(buyers.size());
  for (std::size_t at = 0; at < sorted.size(); ++at) {
    const auto& buyer = buyers[sorted[at]];
    if (made[at]) {
      ids[sorted[at]] = buyer.proposed;
      continue;
    }
    const auto known = tx.one(kEnqueueKnown, buyer.cloud_account, buyer.username_key, due_at,
                              [](const Row& r) { return r.id<CustomerId>(0); });
    // An erasure has blanked the name while this waited: all runs again, and makes the customer.
    if (!known) throw DbError(DbError::Kind::conflict, "a customer was erased while it was enqueued");
    ids[sorted[at]] = *known;
  }
  return ids;
}

std::vector<CustomerId> find_buyers(Tx& tx, std::span<const Buyer> buyers) {
  std::vector<Param> flat;
  for (const auto& buyer : buyers) flat.insert(flat.end(), {buyer.cloud_account, buyer.username_key});
  std::vector<CustomerId> ids;
  tx.query_each(kFindBuyer, 2, flat, [&](std::size_t, const Row& r) { ids.push_back(r.id<CustomerId>(0)); });
  return ids;
}

std::optional<CustomerRow> find_customer(Tx& tx, CustomerId id) {
  return tx.one(kFind, id, read_customer);
}
std::optional<CustomerRow> lock_customer(Tx& tx, CustomerId id) {
  return tx.one(kLock, id, read_customer);
}

std::vector<CustomerRow> lock_customers(Tx& tx, std::span<const CustomerId> ids) {
  std::vector<CustomerRow> rows;
  rows.reserve(ids.size());
  tx.query_each(kLock, 1, params_of(ids),
                [&](std::size_t, const Row& r) { rows.push_back(read_customer(r)); });
  return rows;
}

void hold_customers(Tx& tx, std::vector<CustomerId> ids) {
  if (!tx.others_write()) return;
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  tx.query_each(kLock, 1, params_of(std::span<const CustomerId>(ids)), [](std::size_t, const Row&) {});
}

std::optional<CustomerRow> find_customer_by_cloud_user(Tx& tx, CloudAccountId cloud_account,
                                                       std::string_view cloud_user_id) {
  return tx.one(kFindByCloudUser, cloud_account, cloud_user_id, read_customer);
}

std::vector<CustomerRow> find_customers_by_cloud_user(Tx& tx, std::span<const CloudUserKey> users) {
  std::vector<Param> flat;
  for (const auto& user : users) flat.insert(flat.end(), {user.cloud_account, user.cloud_user_id});
  std::vector<CustomerRow> rows;
  tx.query_each(kFindByCloudUser, 2, flat,
                [&](std::size_t, const Row& r) { rows.push_back(read_customer(r)); });
  return rows;
}

void enqueue_customer(Tx& tx, CustomerId id, domain::JobClass job_class, Timestamp due_at) {
  tx.exec(kEnqueue, id, static_cast<int>(job_class), due_at);
}

std::vector<std::vector<CustomerRow>> lock_due_customers(Tx& tx, std::span<const CloudAccountId> accounts,
                                                         Timestamp now, int limit) {
  std::vector<Param> flat;
  for (const auto account : accounts) flat.insert(flat.end(), {account, now, limit});
  std::vector<std::vector<CustomerRow>> due(accounts.size());
  tx.query_each(kLockDue, 3, flat, [&](std::size_t n, const Row& r) { due[n].push_back(read_customer(r)); });
  for (auto& rows : due) {
    std::ranges::sort(rows, {}, [](const CustomerRow& c) { return std::tuple(c.job_class, c.due_at, c.id); });
  }
  return due;
}

std::vector<CustomerRow> lock_due_of_classes(Tx& tx, std::span<const ClassOfAccount> classes, Timestamp now) {
  std::vector<Param> flat;
  for (const auto& [account, job_class] : classes)
    flat.insert(flat.end(), {account, static_cast<int>(job_class), now});
  std::vector<CustomerRow> rows;
  tx.query_each(kLockDueOfClass, 3, flat,
                [&](std::size_t, const Row& r) { rows.push_back(read_customer(r)); });
  return rows;
}

std::vector<CustomerRow> lock_queued_customers(Tx& tx, std::span<const CustomerId> ids) {
  std::vector<CustomerRow> rows;
  tx.query_each(kLockQueued, 1, params_of(ids),
                [&](std::size_t, const Row& r) { rows.push_back(read_customer(r)); });
  std::ranges::sort(rows, {}, &CustomerRow::id);
  return rows;
}

void lease_customers(Tx& tx, std::span<const CustomerRow> rows) {
  std::vector<Param> flat;
  flat.reserve(4 * rows.size());
  for (const auto& c : rows) flat.insert(flat.end(), {c.id, c.fence, c.lease_owner, c.lease_expires_at});
  tx.update_each(kLease, 4, flat);
}

std::vector<std::optional<Timestamp>> next_due(Tx& tx, std::span<const CloudAccountId> accounts) {
  std::vector<std::optional<Timestamp>> next(accounts.size());
  tx.query_each(kNextDue, 1, params_of(accounts), [&](std::size_t n, const Row& r) {
    for (int column = 0; column < static_cast<int>(domain::kJobClasses) - 1; ++column) {
      const auto due = r.opt_time(column);
      if (due && (!next[n] || *due < *next[n])) next[n] = due;
    }
  });
  return next;
}

std::vector<QueuePosition> queue_positions(Tx& tx, std::span<const CustomerId> customers) {
  std::vector<QueuePosition> found(customers.size());
  std::map<CloudAccountId, std::map<CustomerId, std::int64_t>> first;
  std::vector<CloudAccountId> accounts(customers.size());
  tx.query_each(kQueuedOf, 1, params_of(customers), [&](std::size_t n, const Row& r) {
    accounts[n] = r.id<CloudAccountId>(0);
    first.try_emplace(accounts[n]);
    found[n] = {kMostBefore + 1, r.time(1)};
  });
  for (auto& [account, positions] : first) {
    std::vector<std::tuple<std::int64_t, std::int64_t, CustomerId>> line;
    tx.query(kFirstQueued, account, kMostBefore,
             [&](const Row& r) { line.emplace_back(r.int64(1), r.int64(2), r.id<CustomerId>(0)); });
    // Customers that are due at one moment are numbered by id.
    std::ranges::sort(line);
    for (const auto& [job_class, due_at, id] : line) positions.emplace(id, std::ssize(positions) + 1);
  }
  for (std::size_t n = 0; n < customers.size(); ++n) {
    if (found[n].position == 0) continue;
    const auto& positions = first.at(accounts[n]);
    if (const auto position = positions.find(customers[n]); position != positions.end())
      found[n].position = position->second;
  }
  return found;
}
std::vector<std::optional<Timestamp>> find_request_times(Tx& tx, std::span<const CustomerId> customers) {
  std::vector<std::optional<Timestamp>> times(customers.size());
  if (std::ranges::none_of(customers, [](CustomerId id) { return static_cast<bool>(id); })) return times;
  tx.query_each(kRequestedAt, 1, params_of(customers),
                [&](std::size_t n, const Row& r) { times[n] = r.opt_time(0); });
  return times;
}
std::int64_t count_queued_deliveries(Tx& tx, CloudAccountId account, std::int64_t cap) {
  return tx.one(kCountQueued, account, cap, [](const Row& r) { return r.int64(0); }).value_or(0);
}

bool any_lease_expired(Tx& tx, Timestamp from, Timestamp now) {
  return tx.one(kAnyExpired, from, now, [](const Row&) { return true; }).value_or(false);
}
std::vector<CustomerId> lock_expired_leases(Tx& tx, Timestamp from, Timestamp now, int limit) {
  std::vector<CustomerId> ids;
  tx.query(kLockExpired, from, now, limit, [&](const Row& r) { ids.push_back(r.id<CustomerId>(0)); });
  return ids;
}
void postpone_customer(Tx& tx, CustomerId id, std::int64_t fence, Timestamp until) {
  if (tx.exec(kPostponeLease, id, until, fence) == 0 && fence == 0) tx.exec(kPostponeDue, id, until);
}

void blank_usernames(Tx& tx, std::span<const CustomerId> ids) {
  std::vector<bool> named(ids.size());
  tx.query_each(kStillNamed, 1, params_of(ids), [&](std::size_t n, const Row&) { named[n] = true; });
  std::vector<std::string> placeholders;  // the parameters refer to them
  placeholders.reserve(ids.size());
  std::vector<Param> flat;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (named[i]) continue;
    // No username begins with white space (domain/username.h).
    flat.insert(flat.end(), {ids[i], placeholders.emplace_back(" erased " + to_string(ids[i]))});
  }
  tx.update_each(kBlank, 2, flat);
}

void update_customers(Tx& tx, std::span<const CustomerRow* const> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kUpdateWidth<kColumns> * rows.size());
  for (const auto* const row : rows) add_update<kColumns>(flat, *row, texts);
  tx.update_each(kUpdate, kUpdateWidth<kColumns>, flat);
}
void update_customer(Tx& tx, const CustomerRow& row) {
  update_customers(tx, std::array{&row});
}

}  // namespace presetbridge::storage
