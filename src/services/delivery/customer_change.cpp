#include "services/delivery/customer_change.h"

#include <algorithm>
#include <unordered_map>

#include "domain/job_class.h"
#include "services/delivery/items.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::ItemRow;
using storage::Tx;

// Withdraws a request that the former customer has not answered, unless others of their deliveries need it:
// the job that withdraws it checks that.
void withdraw_request(DeliverySet& set, CustomerId id) {
  if (!id) return;
  auto customer = set.customer(id);
  if (!customer || !request_pending(*customer)) return;
  customer->withdraw = true;
  set.put(*customer);
  set.enqueue(id, domain::JobClass::settlement, set.now());
  wake_cloud_account(set.tx(), customer->cloud_account, set.now());
}

bool reached(const ItemRow& item) {
  switch (item.status) {
    case ItemStatus::sharing:
    case ItemStatus::shared:
    case ItemStatus::already_shared:
    case ItemStatus::revoking:
    case ItemStatus::revoked:
    case ItemStatus::revoke_failed:
      return true;
    case ItemStatus::owed:
    case ItemStatus::dropped:
    case ItemStatus::delivered_by_hand:
      return false;
  }
  return false;
}

bool was_taken_back_by_person(const ItemRow& item) {
  return was_taken_back(item) && item.revoked_by == "merchant";
}

// The user of an item that an earlier program wrote without one.
std::string user_of(Tx& tx, const ItemRow& item) {
  const auto customer = item.customer ? find_customer(tx, item.customer) : std::nullopt;
  if (customer && !customer->cloud_user_id.empty()) return customer->cloud_user_id;
  return "unknown " + to_string(item.id);
}

ItemRow copy_for_new_customer(const ItemRow& item, ItemId id, ItemStatus status) {
  ItemRow owed;
  owed.id = id;
  owed.delivery = item.delivery;
  owed.account = item.account;
  owed.file_id = item.file_id;
  owed.kind = item.kind;
  owed.name = item.name;
  owed.matched_by = item.matched_by;
  owed.quantity = item.quantity;
  owed.lines = item.lines;
  owed.status = status;
  return owed;
}

}  // namespace

bool is_of_another(const ItemRow& item, std::string_view user) {
  if (item.former || item.user_id.empty() || item.user_id == user) return false;
  return reached(item) || (item.spent && item.status != ItemStatus::delivered_by_hand);
}

bool anything_shared(Items items) {
  return std::ranges::any_of(items, [](const ItemRow* item) {
    const bool there = reached(*item) && item->status != ItemStatus::revoked;
    return !item->former && (there || item->revocation_begun) && item->status != ItemStatus::sharing;
  });
}

void leave_to_former(DeliverySet& set, const storage::DeliveryRow& row, ItemRow& item, ItemStatus status) {
  if (item.user_id.empty()) item.user_id = user_of(set.tx(), item);
  if (item.username.empty()) item.username = row.username;
  item.former = true;
  // A file that was taken back from the former customer, and is owed to them again, stays theirs with the
  // credit that it cost (spec 3.10). The new customer's share costs another one.
  if (!reached(item)) record_as_taken_back(item);
  set.add(copy_for_new_customer(item, set.changes().ids().make<ItemId>(), status));
  item.by_hand = false;
  set.changed(item);
}

void change_owner_of_items(DeliverySet& set, const storage::DeliveryRow& row, domain::Actor by,
                           std::string_view user) {
  const auto* const order = set.order(row.id);
  const auto state = order == nullptr ? domain::OrderState{} : order->state;
  const domain::PaidItems paid(state);
  for (auto* const item : set.items_with_lines(row.id)) {
    if (item->former || item->status == ItemStatus::delivered_by_hand) continue;
    if (!user.empty() && !is_of_another(*item, user)) continue;
    // Only an approval makes it owed again (approve_row()).
    if (was_taken_back_by_person(*item) && (by.is_customer_side() || !user.empty())) continue;
    if ((reached(*item) || item->spent) && !row.dry_run) {
      // A stopped order owes nobody anything until it is paid again.
      const bool owed =
          item->status != ItemStatus::dropped && !state.stopped() && paid.contains(item_now(*item));
      const bool sharing = item->status == ItemStatus::sharing;
      const auto by_hand = sharing && item->by_hand ? ItemStatus::delivered_by_hand : ItemStatus::owed;
      leave_to_former(set, row, *item, owed ? by_hand : ItemStatus::dropped);
    } else {
      // Nobody has it, so the item itself becomes the new customer's.
      if (reached(*item)) item->status = ItemStatus::owed;
      item->user_id.clear();
      item->username.clear();
      item->shared_at.reset();
      set.changed(*item);
    }
  }
}

bool is_returnable(const ItemRow& item) {
  return item.former && (item.status == ItemStatus::shared || item.status == ItemStatus::already_shared ||
                         item.status == ItemStatus::sharing);
}

void return_items(DeliverySet& set, const storage::DeliveryRow& row, std::string_view user) {
  const auto items = set.items_with_lines(row.id);
  std::unordered_map<std::string_view, ItemRow*> theirs;  // by file
  for (auto* const item : items) {
    const bool same = user.empty() ? item->username == row.username : item->user_id == user;
    if (is_returnable(*item) && same) theirs.insert_or_assign(item->file_id, item);
  }
  if (theirs.empty()) return;
  for (auto* const item : items) {
    if (item->former || (item->status != ItemStatus::owed && item->status != ItemStatus::dropped)) continue;
    const auto former = theirs.find(item->file_id);
    if (former == theirs.end()) continue;
    // A shared file stays its line's, whatever that is mapped to since (spec 2.10).
    if (line_ids(*item).empty()) item->lines = former->second->lines;
    merge_items(set, *item, *former->second);
  }
}

void change_customer(DeliverySet& set, storage::DeliveryRow& row, const std::string& username,
                     const std::string& raw_username, Timestamp at, domain::Actor by) {
  withdraw_request(set, row.customer);
  change_owner_of_items(set, row, by);
  replace_delivery_key(set.tx(), row.account, row.id, storage::KeyOf::username, row.username, username);
  row.username = username;
  row.raw_username = raw_username;
  return_items(set, row);
  // The caller moves a waiting delivery on, and calls leave_customer_unless_routed().
  if (row.status != domain::DeliveryStatus::waiting_for_friendship) row.customer = {};
  row.named_at = at;
  row.pending.name = {};
  row.waiting_since.reset();
  row.asks_anew = false;
  set.changed(row);
}

void leave_customer_unless_routed(DeliverySet& set, storage::DeliveryRow& row) {
  using domain::DeliveryStatus;
  if (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::waiting_for_friendship) return;
  row.customer = {};
  set.changed(row);
}

}  // namespace presetbridge::services
