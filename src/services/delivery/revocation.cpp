#include "services/delivery/revocation.h"

#include <algorithm>
#include <array>
#include <optional>

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

// Items of the same file that other deliveries to this customer have delivered, or owe.
std::vector<ItemRow> others_of(Tx& tx, const ItemRow& item) {
  auto others = find_items_of_customers(tx, std::array{item.customer});
  std::vector<DeliveryId> deliveries;
  for (const auto& row : lock_open_deliveries(tx, item.customer)) deliveries.push_back(row.id);
  for (const auto& row : lock_failed_of_customer(tx, item.customer)) deliveries.push_back(row.id);
  for (auto& owed : find_items(tx, deliveries)) {
    if (owed.status == ItemStatus::owed && !owed.former) others.push_back(std::move(owed));
  }
  std::erase_if(others, [&](const ItemRow& other) {
    return other.delivery == item.delivery || other.file_id != item.file_id ||
           (!carries(other) && other.status != ItemStatus::already_shared &&
            other.status != ItemStatus::owed);
  });
  return others;
}

void hand_on(Tx& tx, ItemRow& heir, const ItemRow& from) {
  heir.status = ItemStatus::shared;
  heir.customer = from.customer;
  heir.user_id = from.user_id;
  if (!heir.shared_at) heir.shared_at = from.shared_at ? from.shared_at : tx.now();
  update_item(tx, heir);
}

bool revoke(Tx& tx, ItemRow& item, std::string_view by) {
  const bool ours = item.status == ItemStatus::shared || item.status == ItemStatus::revoke_failed;
  // A dry run shared with nobody.
  if (!item.customer || (!ours && item.status != ItemStatus::already_shared)) return false;
  auto others = others_of(tx, item);
  const auto heir = std::ranges::find_if(others, [](const ItemRow& other) { return !carries(other); });
  if (!ours) {
    // Nobody here made that share: it is not ours to take back.
    if (std::ranges::none_of(others, carries)) return false;
    item.status = ItemStatus::revoked;
  } else if (heir != others.end()) {
    hand_on(tx, *heir, item);
    item.status = ItemStatus::revoked;
  } else {
    item.status = ItemStatus::revoking;
  }
  item.revoked_by = by;
  item.revocation_begun = false;
  update_item(tx, item);
  return true;
}

}  // namespace

int revoke_items(Tx& tx, std::span<ItemRow> items, std::string_view by) {
  int revoked = 0;
  for (auto& item : items) {
    if (!revoke(tx, item, by)) continue;
    ++revoked;
    if (item.status != ItemStatus::revoking) continue;
    enqueue_customer(tx, item.customer, domain::JobClass::settlement, tx.now());
    if (const auto customer = lock_customer(tx, item.customer)) {
      wake_cloud_account(tx, customer->cloud_account, tx.now());
    }
  }
  return revoked;
}

}  // namespace presetbridge::services
