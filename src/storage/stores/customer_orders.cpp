#include "storage/stores/customer_orders.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "base/id_time.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kByKey{
    "SELECT delivery_id FROM delivery_keys WHERE account_id = $1 AND key = $2 AND delivery_id > $3"
    " AND delivery_id <= $4 ORDER BY delivery_id LIMIT $5"};
// Ids may be made this long before or after the time that the database takes for them.
constexpr Millis kClocksDiffer{60'000};

// A name as it is compared: whole, where keys are cut.
std::string folded(std::string_view text) {
  return domain::normalise_match_value(domain::MatchType::title, text);
}

bool is_of(const CustomerName& who, std::string_view email, std::string_view username) {
  return (!who.email.empty() && folded(email) == who.email) ||
         (!who.username.empty() && folded(username) == who.username);
}

// Read from the state where an older program wrote the row.
domain::OrderSummary summary_of(Tx& tx, const ListedOrder& order) {
  if (order.listed) return order.summary;
  const auto row = find_order(tx, order.id);
  const auto state = row ? domain::decode_order_state(row->state) : Expected<domain::OrderState>();
  return row && state ? domain::summarise(*state) : order.summary;
}

// Whether the item's user has the file, or had it, or may have it.
bool was_given(const ItemRow& item) {
  return item.status != domain::ItemStatus::owed && item.status != domain::ItemStatus::dropped;
}

// Whether the delivery is for the person, or gave them a file before its name was corrected.
bool delivery_is_of(Tx& tx, const CustomerName& who, const DeliveryRow& row) {
  if (is_of(who, row.email, row.username)) return true;
  if (who.username.empty()) return false;
  const auto items = find_items_of_job(tx, std::array{row.id});
  return std::ranges::any_of(
      items, [&](const ItemRow& item) { return was_given(item) && is_of(who, "", item.username); });
}

// The name that the store sent may be another person's: that of the delivery counts, if it has one.
bool order_is_of(Tx& tx, const CustomerName& who, const ListedOrder& order) {
  const auto summary = summary_of(tx, order);
  if (is_of(who, summary.email, "")) return true;
  if (!is_of(who, "", summary.username)) return false;
  const auto row = find_delivery(tx, DeliveryId{order.id.value});
  return !row || row->username.empty() || delivery_is_of(tx, who, *row);
}

}  // namespace

OrderWalk walk_customer_orders(Tx& tx, AccountId account, const CustomerName& who, OrderId after,
                               Timestamp as_of, int limit) {
  const CustomerName wanted{folded(who.email), folded(who.username)};
  auto walk = walk_orders(tx, {.account = account}, after, as_of, limit, [&](const ListedOrder& order) {
    if (who.everybody) return !summary_of(tx, order).marks.has(domain::OrderMark::erased);
    return order_is_of(tx, wanted, order);
  });
  const auto upto = walk.next ? walk.next->value : first_id_at(as_of + kClocksDiffer);
  const auto add = [&](char kind, const std::string& name) {
    if (name.empty()) return;
    std::vector<DeliveryId> keyed;
    tx.query(kByKey, account, kind + folded_key(name), after, upto, limit,
             [&](const Row& r) { keyed.push_back(r.id<DeliveryId>(0)); });
    for (const auto id : keyed) {
      // A key is cut, so that different names may have one.
      const auto row = find_delivery(tx, id);
      if (row && delivery_is_of(tx, wanted, *row)) walk.orders.push_back(OrderId{id.value});
    }
    // Then the next batch begins after the last of them.
    if (std::ssize(keyed) == limit)
      walk.next = std::min(walk.next.value_or(OrderId{upto}), OrderId{keyed.back().value});
  };
  add(static_cast<char>(KeyOf::email), who.email);
  add(static_cast<char>(KeyOf::username), who.username);
  std::ranges::sort(walk.orders);
  walk.orders.erase(std::ranges::unique(walk.orders).begin(), walk.orders.end());
  if (walk.next) std::erase_if(walk.orders, [&](OrderId id) { return id > *walk.next; });
  return walk;
}

}  // namespace presetbridge::storage
