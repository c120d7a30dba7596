#include "services/delivery/revocation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "services/delivery/items.h"
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

// What other deliveries have delivered to the users of the items, or owe them: read once for all items.
class Others {
 public:
  Others(Tx& tx, std::span<const ItemRow> items) : tx_(tx) {
    for (const auto& item : items) {
      if (item.customer) customers_.try_emplace(item.customer);
    }
    std::vector<CustomerId> ids;
    for (auto& [id, row] : customers_) {
      ids.push_back(id);
      // Nobody gives them a file meanwhile, nor takes one back.
      row = lock_customer(tx, id).value_or(storage::CustomerRow{});
    }
    for (const auto& [id, row] : customers_) read_owing(row);
    for (auto& item : find_items_of_customers(tx, ids)) {
      const auto& customer = customers_.at(item.customer);
      auto user = user_of(item, customer);
      keep(customer, std::move(user), std::move(item));
    }
  }
  // Of the same file and user, of other deliveries; as it stands now.
  std::vector<ItemRow*> of(const ItemRow& item) {
    std::vector<ItemRow*> others;
    for (auto* const other : all_of(item)) {
      const bool owed =
          other->status == ItemStatus::owed && !other->former && owing_.contains(other->delivery);
      const bool counts = owed || carries(*other) || other->status == ItemStatus::already_shared;
      if (counts && other->delivery != item.delivery) others.push_back(other);
    }
    return others;
  }
  // `heir`, one of them, is the one that made the share from now on.
  void hand_on(ItemRow& heir, const ItemRow& from) {
    auto* stands = &heir;
    if (heir.status == ItemStatus::owed) {
      const auto all = all_of(from);
      const auto twin = std::ranges::find_if(
          all, [&](const ItemRow* other) { return other->former && other->delivery == heir.delivery; });
      if (twin != all.end()) {
        stands = *twin;
        become_one(tx_, heir, *stands);
        delete_items(tx_, std::span(&heir, 1));
        items_.erase(items_.find(heir.id));
      }
      const auto& row = owing_.at(stands->delivery);
      stands->customer = from.customer;
      stands->user_id = user_of(from, customers_.at(from.customer));
      if (stands->username.empty()) stands->username = row.username;
      heirs_.insert(row.id);
    }
    stands->status = ItemStatus::shared;
    if (!stands->shared_at) stands->shared_at = from.shared_at ? from.shared_at : tx_.now();
    changed_.insert(stands->id);
  }
  // Writes what was handed on. A delivery that nobody works on, and that owes nothing any more, is completed.
  void save(DeliveryChanges& changes) {
    std::vector<const ItemRow*> changed;
    for (const auto id : changed_) changed.push_back(&items_.at(id));
    update_items(tx_, changed);
    for (const auto id : heirs_) {
      auto& row = owing_.at(id);
      const auto verdict =
          domain::conclude_items(row.status, tally(find_items_of_job(tx_, std::span(&id, 1))));
      if (verdict.cause) changes.must_apply(tx_, row, {.cause = *verdict.cause});
    }
  }

 private:
  using Key = std::tuple<CloudAccountId, std::string, std::string>;  // user and file

  // The customer's deliveries that owe them something, locked, with their items.
  void read_owing(const storage::CustomerRow& customer) {
    std::vector<DeliveryId> ids;
    const auto take = [&](std::vector<storage::DeliveryRow> rows) {
      for (auto& row : rows) {
        ids.push_back(row.id);
        owing_.try_emplace(row.id, std::move(row));
      }
    };
    take(lock_open_deliveries(tx_, customer.id));
    take(lock_failed_of_customer(tx_, customer.id));
    for (auto& item : find_items_of_job(tx_, ids)) {
      // The next job makes it the user's whom the name leads to now, unless another was charged for it.
      const bool theirs = item.status == ItemStatus::owed && !item.former && !item.spent;
      auto user = theirs ? customer.cloud_user_id : user_of(item, customer);
      keep(customer, std::move(user), std::move(item));
    }
  }
  void keep(const storage::CustomerRow& customer, std::string user, ItemRow item) {
    // Nobody knows whose it is.
    if (user.empty()) return;
    const auto [kept, is_new] = items_.try_emplace(item.id, std::move(item));
    if (!is_new) return;
    by_key_[{customer.cloud_account, std::move(user), kept->second.file_id}].push_back(kept->first);
  }
  std::vector<ItemRow*> all_of(const ItemRow& item) {
    const auto& customer = customers_.at(item.customer);
    std::vector<ItemRow*> all;
    const auto known = by_key_.find({customer.cloud_account, user_of(item, customer), item.file_id});
    if (known == by_key_.end()) return all;
    for (const auto id : known->second) {
      if (const auto found = items_.find(id); found != items_.end()) all.push_back(&found->second);
    }
    return all;
  }

  Tx& tx_;
  std::map<CustomerId, storage::CustomerRow> customers_;
  std::map<DeliveryId, storage::DeliveryRow> owing_;
  std::map<ItemId, ItemRow> items_;
  std::map<Key, std::vector<ItemId>> by_key_;
  std::set<ItemId> changed_;
  std::set<DeliveryId> heirs_;
};

bool revoke(Others& all, ItemRow& item, std::string_view by) {
  const bool ours = item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed;
  // A dry run shared with nobody.
  if (!item.customer || (!ours && item.status != ItemStatus::already_shared)) return false;
  const auto others = all.of(item);
  // Who is owed it has it by this; who has delivered it already comes after.
  auto heir = std::ranges::find(others, ItemStatus::owed, &ItemRow::status);
  if (heir == others.end())
    heir = std::ranges::find_if(others, [](const ItemRow* other) { return !carries(*other); });
  if (!ours) {
    // Nobody here made that share: it is not ours to take back.
    if (std::ranges::none_of(others, [](const ItemRow* other) { return carries(*other); })) return false;
    item.status = ItemStatus::revoked;
  } else if (heir != others.end()) {
    all.hand_on(**heir, item);
    item.status = ItemStatus::revoked;
  } else {
    item.status = ItemStatus::revoking;
  }
  item.revoked_by = by;
  item.revocation_begun = false;
  return true;
}

}  // namespace

int revoke_items(Tx& tx, DeliveryChanges& changes, std::span<ItemRow> items, std::string_view by) {
  Others others(tx, items);
  std::vector<const ItemRow*> changed;
  std::set<CustomerId> to_ask;
  for (auto& item : items) {
    if (!revoke(others, item, by)) continue;
    changed.push_back(&item);
    if (item.status == ItemStatus::revoking) to_ask.insert(item.customer);
  }
  update_items(tx, changed);
  others.save(changes);
  for (const auto id : to_ask) {
    enqueue_customer(tx, id, domain::JobClass::settlement, tx.now());
    if (const auto customer = lock_customer(tx, id))
      wake_cloud_account(tx, customer->cloud_account, tx.now());
  }
  return static_cast<int>(changed.size());
}

void revoke_refunded(Tx& tx, DeliveryChanges& changes, std::vector<ItemRow> items,
                     std::span<const ItemId> refunded) {
  const std::set<ItemId> ids(refunded.begin(), refunded.end());
  std::set<std::string> files;
  for (const auto& item : items) {
    if (ids.contains(item.id)) files.insert(item.file_id);
  }
  std::erase_if(items, [&](const ItemRow& item) { return !item.customer || !files.contains(item.file_id); });
  if (!items.empty()) revoke_items(tx, changes, items, "order");
}

}  // namespace presetbridge::services
