#include "services/buyers/customers.h"

#include <array>
#include <boost/json.hpp>
#include <utility>

#include "services/intake/privacy.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

namespace json = boost::json;
using storage::BulkJobRow;
using storage::CustomerName;
using storage::Tx;

namespace {

constexpr int kCounted = 10'000;

CustomerName name_of(const BulkJobRow& job) {
  const auto value = json::parse(job.filter);
  CustomerName who{std::string(value.at("email").as_string()), std::string(value.at("username").as_string())};
  // A program of before wrote no names for everybody, and never for a person.
  who.everybody = value.as_object().contains("everybody") ? value.at("everybody").as_bool()
                                                          : who.email.empty() && who.username.empty();
  return who;
}

// Those of the first kCounted orders of the account.
storage::OrderCount count(Tx& tx, AccountId account, const CustomerName& who, Timestamp as_of) {
  storage::OrderCount count;
  OrderId after;
  for (int scanned = 0; scanned < kCounted; scanned += kCustomerScan) {
    const auto walk = walk_customer_orders(tx, account, who, after, as_of, kCustomerScan);
    count.orders += std::ssize(walk.orders);
    if (!walk.next) return count;
    after = *walk.next;
  }
  count.exact = false;
  return count;
}

}  // namespace

std::string Customers::filter_of(const CustomerName& who) {
  return json::serialize(
      json::object{{"email", who.email}, {"username", who.username}, {"everybody", who.everybody}});
}

Task<Expected<storage::OrderWalk>> Customers::find(Executor& executor, identity::Principal by,
                                                   CustomerName who, OrderId after, int limit) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    auto walk = walk_customer_orders(tx, by.account, who, after, tx.now() + Millis{1}, kCustomerScan);
    if (std::ssize(walk.orders) > limit) {
      walk.orders.resize(static_cast<std::size_t>(limit));
      walk.next = walk.orders.back();
    }
    return walk;
  });
}

Task<Expected<ErasurePlan>> Customers::erase(Executor& executor, identity::Principal by, CustomerName who,
                                             bool dry_run) {
  NewBulkJob wanted{.action = name(), .filter = filter_of(who), .as_of = {}};
  auto counted = co_await async_db_.read(executor, [&](Tx& tx) {
    // Ids of this millisecond are of orders that are there already.
    wanted.as_of = tx.now() + Millis{1};
    return count(tx, by.account, who, wanted.as_of);
  });
  if (!counted) co_return std::unexpected(counted.error());
  ErasurePlan plan{*counted, {}};
  if (dry_run) co_return plan;
  wanted.total = counted->orders;
  wanted.total_is_exact = counted->exact;
  auto job = co_await jobs_.add(executor, std::move(by), std::move(wanted));
  if (!job) co_return std::unexpected(job.error());
  plan.job = std::move(*job);
  co_return plan;
}

BulkAction::Found Customers::find(Tx& tx, const BulkJobRow& job, int limit) const {
  const auto walk =
      walk_customer_orders(tx, job.account, name_of(job), OrderId{job.done_to}, job.as_of, limit);
  Found found;
  for (const auto id : walk.orders) found.ids.push_back(id.value);
  if (walk.next) found.next = walk.next->value;
  return found;
}

Task<Expected<BulkAction::Do>> Customers::prepare(Executor& executor, const BulkJobRow&, std::int64_t id) {
  auto row = co_await async_db_.read(executor, [id](Tx& tx) { return storage::find_order(tx, OrderId{id}); });
  if (!row) co_return std::unexpected(row.error());
  if (!*row) co_return fail("NOT_FOUND", "There is no such order.");
  co_return Do([this, integration = (*row)->integration,
                key = (*row)->order_key](Tx& tx) -> std::optional<Expected<void>> {
    erase_orders(tx, changes_, std::array{storage::OrderKey{integration, key}});
    return Expected<void>{};
  });
}

}  // namespace presetbridge::services
