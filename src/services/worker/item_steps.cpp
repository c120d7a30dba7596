#include "services/worker/item_steps.h"

#include <algorithm>
#include <array>

#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/items.h"
#include "services/delivery/revocation.h"
#include "services/worker/job_end.h"
#include "storage/integration_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::Tx;

// Nothing where there is no such order.
std::optional<domain::OrderState> order_state(Tx& tx, DeliveryId delivery) {
  const auto order = find_order(tx, OrderId{delivery.value});
  if (!order) return std::nullopt;
  auto state = domain::decode_order_state(order->state);
  if (!state) throw Error(state.error());
  return std::move(*state);
}

// Whether nothing is left to deliver of one of its lines: refunded, or its quantity was lowered.
bool lacks_a_line(const domain::OrderState& order) {
  const domain::PaidQuantities paid(order);
  return std::ranges::any_of(order.lines, [&](const auto& line) { return paid.of(line) == 0; });
}

}  // namespace

void end_revocation(WorkSet& set, DeliveryId delivery, ItemId id, ItemStatus status, std::string_view why) {
  auto* const item = set.item(delivery, id);
  if (item == nullptr || item->status != ItemStatus::revoking) return;
  item->status = status;
  item->revocation_begun = false;
  set.changed(*item);
  const auto* const row = set.delivery(delivery);
  if (row == nullptr) return;
  const auto& file = item->name.empty() ? item->file_id : item->name;
  set.note(*row, domain::Actor::system(),
           "The share of " + file +
               (status == ItemStatus::revoked ? " was taken back" : " could not be taken back") +
               (why.empty() ? "" : ": " + std::string(why)) + ".");
  // The order was paid again while its end was being carried out: what was begun is settled, and the file is
  // owed again (spec 3.10).
  if (status != ItemStatus::revoked || item->revoked_by != "order" || item->former) return;
  const auto order = order_state(set.tx(), delivery);
  if (!order || order->payment() != domain::Payment::deliver ||
      !domain::PaidItems(*order).contains(item_with_lines(set.tx(), *item)))
    return;
  item->status = ItemStatus::owed;
  item->revoked_by.clear();
  set.changed(*item);
  hold_owed_again(set, delivery);
  conclude_settled(set, delivery);
}

void revoke_if_ended(WorkSet& set, DeliveryId id) {
  const auto* const row = set.delivery(id);
  if (row == nullptr) return;
  const auto integration = find_integration(set.tx(), row->integration);
  if (!integration || !integration->auto_revoke) return;
  const auto order = order_state(set.tx(), id);
  if (!order || (order->stopped() ? !order->stop_revokes() : !lacks_a_line(*order))) return;
  set.directly([&](Tx& tx) {
    auto items = find_items(tx, id);
    if (order->stopped()) {
      revoke_items(tx, items, "order");
    } else {
      const auto now = items_now(items);
      revoke_refunded(tx, std::move(items), domain::plan_items(now, *order, {}).refunded);
    }
  });
}

storage::ItemRow& own_item(WorkSet& set, const storage::CustomerRow& customer, storage::ItemRow& item) {
  const auto& user = customer.cloud_user_id;
  if (item.user_id == user) return item;
  const auto items = set.items(item.delivery);
  const auto twin = std::ranges::find_if(items, [&](const storage::ItemRow* other) {
    return other->former && other->file_id == item.file_id && other->user_id == user;
  });
  if (twin == items.end()) {
    item.user_id = user;
    item.username = set.delivery(item.delivery)->username;  // empty once erased
    set.changed(item);
    return item;
  }
  auto& known = **twin;
  known.former = false;
  known.lines = find_item_lines(set.tx(), item);
  update_item_lines(set.tx(), std::array<const storage::ItemRow*, 1>{&known});
  known.quantity = item.quantity;
  if (known.status == ItemStatus::revoked || known.status == ItemStatus::dropped) {
    known.status = item.status;
    known.revoked_by.clear();
  }
  set.changed(known);
  set.remove(item);
  return known;
}

}  // namespace presetbridge::services
