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
#include "services/delivery/routing.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::ItemRow;

// Whether the item is one of a share that this service made and that may still exist.
bool is_own_share(const ItemRow& item) {
  return item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed ||
         item.status == ItemStatus::revoking;
}

// The items that other deliveries have delivered to the users of the given items, or owe them.
class OtherItems {
 public:
  OtherItems(DeliverySet& set, std::span<ItemRow* const> items) : set_(set) {
    set.save();  // deliveries and items of the customers are read
    // Their locks keep others from sharing a file with them meanwhile, and from taking one back.
    for (const auto* const item : items) {
      if (!item->customer || customers_.contains(item->customer)) continue;
      customers_[item->customer] = set.customer(item->customer).value_or(storage::CustomerRow{});
    }
    for (const auto& [id, row] : customers_) read_owing(row);
    for (const auto& [id, row] : customers_) {
      for (auto* const item : set.items_of(id)) add(row, user_of(*item, row), *item);
    }
  }
  // Returns the items of other deliveries for the same file and user, as they are now.
  std::vector<ItemRow*> of(const ItemRow& item) {
    std::vector<ItemRow*> others;
    for (auto* const other : all_of(item)) {
      if (other->delivery == item.delivery) continue;
      const bool owed = other->status == ItemStatus::owed && !other->former && owes(other->delivery);
      const bool counts = owed || is_own_share(*other) || other->status == ItemStatus::already_shared;
      if (counts) others.push_back(other);
    }
    return others;
  }
  // Makes `heir`, which of() has returned, the item that made the share of `from`.
  void transfer(ItemRow& heir, const ItemRow& from) {
    auto* target = &heir;
    if (heir.status == ItemStatus::owed) {
      const auto all = all_of(from);
      const auto former = std::ranges::find_if(
          all, [&](const ItemRow* other) { return other->former && other->delivery == heir.delivery; });
      if (former != all.end()) {
        target = *former;
        items_.erase(heir.id);
        merge_items(set_, heir, *target);
      }
      auto& row = *owing_.at(target->delivery);
      target->customer = from.customer;
      target->user_id = user_of(from, customers_.at(from.customer));
      if (target->username.empty()) target->username = row.username;
      heirs_.insert(row.id);
    }
    target->status = ItemStatus::shared;
    if (!target->shared_at) target->shared_at = from.shared_at ? from.shared_at : set_.now();
    set_.changed(*target);
  }
  // Completes the deliveries of heirs that are in no job and owe nothing any more.
  void complete_heirs() {
    for (const auto id : heirs_) {
      auto& row = *owing_.at(id);
      const auto verdict = domain::conclude_items(row.status, tally(set_.items(id), row));
      if (verdict.cause) set_.apply(row, {.cause = *verdict.cause});
    }
  }

 private:
  using Key = std::tuple<CloudAccountId, std::string, std::string>;  // user and file

  // Whether the delivery would be queued: one that failed may be unpaid, or wait for the merchant's approval.
  bool owes(DeliveryId id) {
    const auto row = owing_.find(id);
    if (row == owing_.end()) return false;
    if (row->second->status != domain::DeliveryStatus::failed) return true;
    const auto [approved, is_new] = approved_.try_emplace(id, false);
    if (is_new) approved->second = unapproved(set_, id).none();
    return approved->second;
  }
  // The customer's deliveries that owe them something, locked, with their items.
  void read_owing(const storage::CustomerRow& customer) {
    const auto add_all = [&](std::vector<storage::DeliveryRow> rows) {
      for (auto* const row : set_.adopt(std::move(rows))) {
        owing_.try_emplace(row->id, row);
        for (auto* const item : set_.items(row->id)) {
          // The next job gives it to the user whom the name leads to now, unless another was charged for it.
          const bool theirs = item->status == ItemStatus::owed && !item->former && !item->spent;
          add(customer, theirs ? customer.cloud_user_id : user_of(*item, customer), *item);
        }
      }
    };
    add_all(lock_open_deliveries(set_.tx(), customer.id));
    add_all(lock_failed_of_customer(set_.tx(), customer.id));
  }
  void add(const storage::CustomerRow& customer, const std::string& user, ItemRow& item) {
    // The user is not known.
    if (user.empty() || !items_.insert(item.id).second) return;
    by_key_[{customer.cloud_account, user, item.file_id}].emplace_back(item.id, &item);
  }
  std::vector<ItemRow*> all_of(const ItemRow& item) {
    const auto& customer = customers_.at(item.customer);
    std::vector<ItemRow*> all;
    const auto known = by_key_.find({customer.cloud_account, user_of(item, customer), item.file_id});
    if (known == by_key_.end()) return all;
    for (const auto& [id, row] : known->second) {
      if (items_.contains(id)) all.push_back(row);
    }
    return all;
  }

  DeliverySet& set_;
  std::map<CustomerId, storage::CustomerRow> customers_;
  std::map<DeliveryId, storage::DeliveryRow*> owing_;
  std::set<ItemId> items_;
  std::map<Key, std::vector<std::pair<ItemId, ItemRow*>>> by_key_;
  std::map<DeliveryId, bool> approved_;  // of failed ones, as far as they were asked for
  std::set<DeliveryId> heirs_;
};

bool revoke(OtherItems& all, ItemRow& item, std::string_view by) {
  // A revocation that the order began becomes the person's who asks for it: a payment does not end it any
  // more. One that an approval called off becomes that of whoever asks.
  if (item.status == ItemStatus::revoking && item.revoked_by != by &&
      (item.revoked_by.empty() || by != "order")) {
    item.revoked_by = by;
    return true;
  }
  // An item that is owed again, or was, since nobody knows whether it was taken back.
  const bool perhaps =
      item.revocation_begun && (item.status == ItemStatus::owed || item.status == ItemStatus::dropped);
  const bool ours = item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed || perhaps;
  // A dry run shared with nobody.
  if (!item.customer || (!ours && item.status != ItemStatus::already_shared)) return false;
  const auto others = all.of(item);
  // A delivery that still owes the file comes first, as it has delivered it by this.
  auto heir = std::ranges::find(others, ItemStatus::owed, &ItemRow::status);
  if (heir == others.end())
    heir = std::ranges::find_if(others, [](const ItemRow* other) { return !is_own_share(*other); });
  if (!ours) {
    // No item here made that share, so it is not the service's to take back.
    if (std::ranges::none_of(others, [](const ItemRow* other) { return is_own_share(*other); })) return false;
    item.status = ItemStatus::revoked;
  } else if (heir != others.end()) {
    all.transfer(**heir, item);
    item.status = ItemStatus::revoked;
  } else if (std::ranges::find(others, ItemStatus::shared, &ItemRow::status) != others.end()) {
    // The share is the other delivery's: it was made after a revocation whose effect was not known.
    item.status = ItemStatus::revoked;
  } else {
    item.status = ItemStatus::revoking;
    item.login_lost_at.reset();
  }
  item.revoked_by = by;
  // A revocation of before may have succeeded: an approval has the share looked up first.
  if (item.status == ItemStatus::revoked) item.revocation_begun = false;
  return true;
}

}  // namespace

bool waits_for_merchant(const storage::DeliveryRow& row) {
  return row.status == domain::DeliveryStatus::in_review ||
         (row.status == domain::DeliveryStatus::invalidated &&
          row.invalidated_by != domain::InvalidatedBy::order);
}

int revoke_items(DeliverySet& set, std::span<ItemRow* const> items, std::string_view by) {
  OtherItems others(set, items);
  int changed = 0;
  std::set<CustomerId> to_ask;
  for (auto* const item : items) {
    if (!revoke(others, *item, by)) continue;
    ++changed;
    set.changed(*item);
    if (item->status == ItemStatus::revoking) {
      to_ask.insert(item->customer);
    } else if (const auto* const row = set.delivery(item->delivery)) {
      set.add_timeline_entry(*row, domain::Actor::system(),
                             (item->name.empty() ? item->file_id : item->name) +
                                 " stays with the customer: another of their orders has it too.",
                             {.item = item->id});
    }
  }
  others.complete_heirs();
  for (const auto id : to_ask) {
    set.enqueue(id, domain::JobClass::settlement, set.now());
    if (const auto customer = set.customer(id))
      wake_cloud_account(set.tx(), customer->cloud_account, set.now());
  }
  return changed;
}

void revoke_refunded(DeliverySet& set, std::span<ItemRow* const> items, std::span<const ItemId> refunded) {
  const std::set<ItemId> ids(refunded.begin(), refunded.end());
  std::set<std::string> files;
  for (const auto* const item : items) {
    if (ids.contains(item->id)) files.insert(item->file_id);
  }
  std::vector<ItemRow*> to_revoke;
  for (auto* const item : items) {
    if (item->customer && files.contains(item->file_id)) to_revoke.push_back(item);
  }
  if (!to_revoke.empty()) revoke_items(set, to_revoke, "order");
}

}  // namespace presetbridge::services
