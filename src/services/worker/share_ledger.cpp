#include "services/worker/share_ledger.h"

#include <utility>

#include "domain/credits.h"
#include "domain/delivery_outcome.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/items.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;

// If its delivery no longer needs the credit, the search for missed work gives it to another
// (give_out_spare_credits()).
void release_hold(DeliverySet& set, storage::ItemRow& item) {
  if (!item.held) return;
  item.held = false;
  const auto before = set.balance(item.account);
  const auto balance = domain::release(before, 1).value();
  set.set_balance(item.account, balance);
  if (const auto paid = before.debt - balance.debt; paid > 0) {
    set.add_ledger_entry({item.account,
                          {.id = set.changes().ids().make<LedgerId>(),
                           .at = set.now(),
                           .kind = domain::LedgerEntryKind::debt_paid,
                           .credits = paid,
                           .note = "released from a share that was not made"}});
  }
}

// Whether no line that owes the item has any paid quantity left.
bool refunded(DeliverySet& set, const storage::ItemRow& item) {
  const auto* const order = set.order(item.delivery);
  // Where its lines are not known, it is not known to be refunded.
  if (order == nullptr || order->state.too_large) return false;
  set.items_with_lines(item.delivery);
  return !domain::PaidItems(order->state).contains(item_now(item));
}

}  // namespace

bool begin_share(DeliverySet& set, storage::ItemRow& item, CustomerId customer, const std::string& intent_key,
                 Timestamp settle_after) {
  // An item that was charged once is never held for again (spec 3.10).
  if (!item.spent) {
    const auto held = domain::hold(set.balance(item.account), 1);
    if (!held) return false;
    set.set_balance(item.account, *held);
    item.held = true;
  }
  item.status = ItemStatus::sharing;
  item.by_hand = false;
  item.customer = customer;
  item.intent_key = intent_key;
  item.settle_after = settle_after;
  item.login_lost_at.reset();
  set.changed(item);
  return true;
}

void settle_found(DeliverySet& set, DeliveryId delivery, ItemId id, bool ours, Timestamp shared_at,
                  std::optional<Millis> took) {
  auto* const item = set.item(delivery, id);
  if (item == nullptr || item->status != ItemStatus::sharing) return;
  item->settle_after.reset();
  item->by_hand = false;
  item->shared_at = shared_at;
  // Where an earlier revocation may have failed, the share that was found is the one of before: made for this
  // item, or, where this item was not charged, inherited from the one that was (spec 3.10).
  const bool before = std::exchange(item->revocation_begun, false) && !ours;
  const bool inherited = before && !item->spent;
  ours = ours || (before && item->spent);
  set.changed(*item);
  if (const auto* const row = set.delivery(delivery)) {
    const auto& file = item->name.empty() ? item->file_id : item->name;
    set.add_timeline_entry(
        *row, domain::Actor::system(), file + (ours ? " was shared." : " was shared before."),
        {.type = domain::TimelineType::item_shared,
         .item = id,
         .duration = took,
         .data =
             timeline_data({{"fileId", item->file_id}, {"fileName", file}, {"username", item->username}})});
  }
  if (!ours) {
    item->status = inherited ? ItemStatus::shared : ItemStatus::already_shared;
    return release_hold(set, *item);
  }
  item->status = ItemStatus::shared;
  if (std::exchange(item->spent, true)) return;
  item->held = false;
  set.spend(item->account);
  set.add_ledger_entry({item->account,
                        {.id = set.changes().ids().make<LedgerId>(),
                         .at = set.now(),
                         .kind = domain::LedgerEntryKind::spend,
                         .credits = 1,
                         .item = item->id,
                         .note = "shared " + (item->name.empty() ? item->file_id : item->name),
                         .delivery = item->delivery}});
}

namespace {

// `looked_up`: a share of before does not exist either.
void end_share(DeliverySet& set, DeliveryId delivery_id, ItemId id, bool looked_up) {
  auto* const item = set.item(delivery_id, id);
  if (item == nullptr || item->status != ItemStatus::sharing) return;
  const auto* const delivery = set.delivery(item->delivery);
  item->status =
      domain::after_absent_share(delivery ? delivery->pending.kind : domain::PendingActionKind::none);
  if (item->status == ItemStatus::owed && delivery) {
    // It may have been delivered by hand, or refunded, while the outcome was unknown.
    // An older program marks no item: nothing else completes a delivery while a share is unknown.
    if (item->by_hand || delivery->status == domain::DeliveryStatus::completed)
      item->status = ItemStatus::delivered_by_hand;
    if (item->former || refunded(set, *item)) item->status = ItemStatus::dropped;
  }
  item->revocation_begun = item->revocation_begun && !looked_up;
  const bool recorded = item->former && item->spent;
  if (recorded) record_as_taken_back(*item);
  item->by_hand = false;
  if (!item->revocation_begun && !recorded) item->customer = {};
  item->intent_key.clear();
  item->settle_after.reset();
  release_hold(set, *item);
  set.changed(*item);
}

}  // namespace

void settle_absent(DeliverySet& set, DeliveryId delivery, ItemId item) {
  end_share(set, delivery, item, true);
}

void settle_not_made(DeliverySet& set, DeliveryId delivery, ItemId item) {
  end_share(set, delivery, item, false);
}

void count_as_absent(DeliverySet& set, DeliveryId delivery, ItemId id, std::string_view why) {
  const auto* const item = set.item(delivery, id);
  if (item == nullptr || item->status != ItemStatus::sharing) return;
  const auto file = item->name.empty() ? item->file_id : item->name;
  settle_not_made(set, delivery, id);
  if (const auto* const row = set.delivery(delivery)) {
    set.add_timeline_entry(*row, domain::Actor::system(),
                           "Whether " + file + " was shared cannot be found out: " + std::string(why) +
                               ". It counts as not shared.");
  }
}

}  // namespace presetbridge::services
