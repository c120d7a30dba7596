#include "services/delivery/revocation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/job_class.h"
#include "storage/cloud_account_store.h"
#include "storage/customer_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::ItemRow;
using storage::Tx;

// Whether the item stands for a share that this service made and that is there.
bool carries(const ItemRow& item) {
  return item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed ||
         item.status == ItemStatus::revoking;
}

// What other deliveries have delivered to the customers of the items, or owe them: read once for all items.
class Others {
 public:
  Others(Tx& tx, std::span<const ItemRow> items) {
    std::set<CustomerId> customers;
    for (const auto& item : items) {
      if (item.customer) customers.insert(item.customer);
    }
    const std::vector<CustomerId> ids(customers.begin(), customers.end());
    for (auto& item : find_items_of_customers(tx, ids)) {
      if (item.status != ItemStatus::owed) add(item.customer, std::move(item));
    }
    for (const auto customer : ids) {
      std::vector<DeliveryId> deliveries;
      for (const auto& row : lock_open_deliveries(tx, customer)) deliveries.push_back(row.id);
      for (const auto& row : lock_failed_of_customer(tx, customer)) deliveries.push_back(row.id);
      for (auto& item : find_items_of_job(tx, deliveries)) {
        if (item.status == ItemStatus::owed && !item.former) add(customer, std::move(item));
      }
    }
  }
  // Of the same file and customer, of other deliveries; as it stands now.
  std::vector<ItemRow*> of(const ItemRow& item) {
    std::vector<ItemRow*> others;
    for (auto& other : by_file_[{item.customer, item.file_id}]) {
      const bool counts =
          carries(other) || other.status == ItemStatus::already_shared || other.status == ItemStatus::owed;
      if (other.delivery != item.delivery && counts) others.push_back(&other);
    }
    return others;
  }

 private:
  void add(CustomerId customer, ItemRow item) {
    const std::pair key{customer, item.file_id};
    by_file_[key].push_back(std::move(item));
  }
  std::map<std::pair<CustomerId, std::string>, std::vector<ItemRow>> by_file_;
};

void hand_on(Tx& tx, ItemRow& heir, const ItemRow& from) {
  heir.status = ItemStatus::shared;
  heir.customer = from.customer;
  heir.user_id = from.user_id;
  // One that is owed yet has no name: that of its own delivery's customer.
  if (heir.username.empty()) {
    if (const auto row = find_delivery(tx, heir.delivery)) heir.username = row->username;
  }
  if (!heir.shared_at) heir.shared_at = from.shared_at ? from.shared_at : tx.now();
}

bool revoke(Tx& tx, Others& all, ItemRow& item, std::string_view by, std::vector<const ItemRow*>& changed) {
  const bool ours = item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed;
  // A dry run shared with nobody.
  if (!item.customer || (!ours && item.status != ItemStatus::already_shared)) return false;
  const auto others = all.of(item);
  const auto heir = std::ranges::find_if(others, [](const ItemRow* other) { return !carries(*other); });
  if (!ours) {
    // Nobody here made that share: it is not ours to take back.
    if (std::ranges::none_of(others, [](const ItemRow* other) { return carries(*other); })) return false;
    item.status = ItemStatus::revoked;
  } else if (heir != others.end()) {
    hand_on(tx, **heir, item);
    changed.push_back(*heir);
    item.status = ItemStatus::revoked;
  } else {
    item.status = ItemStatus::revoking;
  }
  item.revoked_by = by;
  item.revocation_begun = false;
  changed.push_back(&item);
  return true;
}

}  // namespace

int revoke_items(Tx& tx, std::span<ItemRow> items, std::string_view by) {
  Others others(tx, items);
  std::vector<const ItemRow*> changed;
  std::set<CustomerId> to_ask;
  int revoked = 0;
  for (auto& item : items) {
    if (!revoke(tx, others, item, by, changed)) continue;
    ++revoked;
    if (item.status == ItemStatus::revoking) to_ask.insert(item.customer);
  }
  std::ranges::sort(changed);
  changed.erase(std::ranges::unique(changed).begin(), changed.end());
  update_items(tx, changed);
  for (const auto id : to_ask) {
    enqueue_customer(tx, id, domain::JobClass::settlement, tx.now());
    if (const auto customer = lock_customer(tx, id))
      wake_cloud_account(tx, customer->cloud_account, tx.now());
  }
  return revoked;
}

void revoke_refunded(Tx& tx, std::vector<ItemRow> items, std::span<const ItemId> refunded) {
  const std::set<ItemId> ids(refunded.begin(), refunded.end());
  std::set<std::string> files;
  for (const auto& item : items) {
    if (ids.contains(item.id)) files.insert(item.file_id);
  }
  std::erase_if(items, [&](const ItemRow& item) { return !item.customer || !files.contains(item.file_id); });
  if (!items.empty()) revoke_items(tx, items, "order");
}

}  // namespace presetbridge::services
