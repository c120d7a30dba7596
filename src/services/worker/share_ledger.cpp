#include "services/worker/share_ledger.h"

#include "domain/credits.h"
#include "domain/delivery_outcome.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/fulfilment.h"
#include "storage/chore_store.h"
#include "storage/credit_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::Tx;

void release_hold(Tx& tx, storage::ItemRow& item) {
  if (!item.held) return;
  item.held = false;
  const auto balance = domain::release(lock_balance(tx, item.account).value(), 1).value();
  update_balance(tx, item.account, balance);
  // A delivery may have failed for want of just this credit.
  if (balance.available() == 1) add_chore(tx, item.account, storage::ChoreKind::resume_credits);
}

// Whether no line that owes the item has any paid quantity left.
bool refunded(Tx& tx, const storage::ItemRow& item) {
  const auto order = find_order(tx, OrderId{item.delivery.value});
  if (!order) return false;
  const auto state = domain::decode_order_state(order->state);
  if (!state) throw Error(state.error());
  const domain::ItemNow now{item.id, item.file_id, item.status, line_ids(item)};
  return !domain::refunded_items(std::span(&now, 1), *state).empty();
}

}  // namespace

bool begin_share(Tx& tx, storage::ItemRow& item, CustomerId customer, const std::string& intent_key,
                 Timestamp settle_after) {
  const auto held = domain::hold(lock_balance(tx, item.account).value(), 1);
  if (!held) return false;
  update_balance(tx, item.account, *held);
  item.status = ItemStatus::sharing;
  item.customer = customer;
  item.intent_key = intent_key;
  item.settle_after = settle_after;
  item.held = true;
  update_item(tx, item);
  return true;
}

void settle_found(Tx& tx, IdSource& ids, DeliveryId delivery, ItemId id, bool ours, Timestamp shared_at) {
  auto item = find_item(tx, delivery, id);
  if (!item || item->status != ItemStatus::sharing) return;
  item->settle_after.reset();
  item->shared_at = shared_at;
  if (!ours) {
    item->status = ItemStatus::already_shared;
    release_hold(tx, *item);
    return update_item(tx, *item);
  }
  item->status = ItemStatus::shared;
  item->held = false;
  item->spent = true;
  update_balance(tx, item->account, domain::spend(lock_balance(tx, item->account).value(), 1).value());
  append_ledger(tx, item->account,
                {.id = ids.make<LedgerId>(),
                 .at = tx.now(),
                 .kind = "spend",
                 .credits = 1,
                 .item = item->id,
                 .note = "shared " + (item->name.empty() ? item->file_id : item->name)});
  update_item(tx, *item);
}

void settle_absent(Tx& tx, DeliveryId delivery_id, ItemId id) {
  auto item = find_item(tx, delivery_id, id);
  if (!item || item->status != ItemStatus::sharing) return;
  const auto delivery = lock_delivery(tx, item->delivery);
  item->status =
      domain::after_absent_share(delivery ? delivery->pending.kind : domain::PendingActionKind::none);
  if (item->status == ItemStatus::owed && delivery) {
    // It may have been delivered by hand, or refunded, while nobody knew.
    if (delivery->status == domain::DeliveryStatus::completed) item->status = ItemStatus::delivered_by_hand;
    if (refunded(tx, *item)) item->status = ItemStatus::dropped;
  }
  item->customer = {};
  item->intent_key.clear();
  item->settle_after.reset();
  release_hold(tx, *item);
  update_item(tx, *item);
}

}  // namespace presetbridge::services
