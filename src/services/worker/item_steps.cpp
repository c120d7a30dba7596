#include "services/worker/item_steps.h"

#include <algorithm>
#include <array>

#include "domain/mapping.h"
#include "domain/order.h"
#include "services/delivery/customer_change.h"
#include "services/delivery/items.h"
#include "services/delivery/revocation.h"
#include "services/delivery/routing.h"
#include "services/worker/job_end.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::Tx;

// Whether one of its lines has no paid quantity left: it was refunded, or its quantity lowered.
bool lacks_a_line(const domain::OrderState& order) {
  const domain::PaidQuantities paid(order);
  return std::ranges::any_of(order.lines, [&](const auto& line) { return paid.of(line) == 0; });
}

// The delivery's former item of the same file for the customer's user; null: there is none.
storage::ItemRow* former_item(DeliverySet& set, const storage::CustomerRow& customer,
                              const storage::ItemRow& item) {
  const auto items = set.items(item.delivery);
  const auto former = std::ranges::find_if(items, [&](const storage::ItemRow* other) {
    return other->former && other->file_id == item.file_id && other->user_id == customer.cloud_user_id;
  });
  return former == items.end() ? nullptr : *former;
}

// The order, if it pays for an item whose revocation it began, or an approval called the revocation off (spec 3.10);
// else null.
const domain::OrderState* order_that_keeps(DeliverySet& set, storage::ItemRow& item) {
  const bool approved = item.revoked_by.empty();
  if ((item.revoked_by != "order" && !approved) || item.former) return nullptr;
  const auto* const order = set.order(item.delivery);
  set.items_with_lines(item.delivery);
  if (order == nullptr || order->state.erased ||
      (order->state.payment() != domain::Payment::deliver && !approved) ||
      !domain::PaidItems(order->state).contains(item_now(item)))
    return nullptr;
  return &order->state;
}

}  // namespace

void undo_revocation(DeliverySet& set, storage::ItemRow& item) {
  item.revocation_begun = false;
  const auto* const row = set.delivery(item.delivery);
  if (row != nullptr && !waits_for_merchant(*row) && order_that_keeps(set, item) != nullptr) {
    item.status = ItemStatus::shared;
    item.revoked_by.clear();
  }
  set.changed(item);
}

void end_revocation(DeliverySet& set, DeliveryId delivery, ItemId id, RevocationEnd end,
                    std::string_view why) {
  auto* const item = set.item(delivery, id);
  if (item == nullptr || item->status != ItemStatus::revoking) return;
  const bool taken_back = end == RevocationEnd::taken_back;
  item->status = taken_back ? ItemStatus::revoked : ItemStatus::revoke_failed;
  if (taken_back) item->revocation_begun = false;
  set.changed(*item);
  auto* const row = set.delivery(delivery);
  if (row == nullptr) return;
  const auto& file = item->name.empty() ? item->file_id : item->name;
  set.add_timeline_entry(
      *row, domain::Actor::system(),
      "The share of " + file + (taken_back ? " was taken back" : " could not be taken back") +
          (why.empty() ? "" : ": " + std::string(why)) + ".",
      {.type = taken_back ? domain::TimelineType::item_revoked : domain::TimelineType::item_revoke_failed,
       .item = id});
  // Where the order was paid again while it was being revoked, the revocation is settled first and the file
  // is then owed again (spec 3.10), also where nobody knows whether its share still exists.
  // An approval called the revocation off, whatever the payment.
  const bool approved = item->revoked_by.empty();
  if (!taken_back && waits_for_merchant(*row)) return;
  const auto* const order = order_that_keeps(set, *item);
  if (order == nullptr) return;
  const bool exists = !taken_back && !item->revocation_begun;
  item->status = exists ? ItemStatus::shared : ItemStatus::owed;
  item->revoked_by.clear();
  set.changed(*item);
  if (item->status == ItemStatus::shared) return;
  if (approved && row->status == domain::DeliveryStatus::completed)
    return queue(set, *row, {.cause = domain::Cause::new_items_owed, .reasons = order->unapproved()});
  if (!approved) hold_owed_again(set, delivery);
  conclude_settled(set, delivery);
}

void revoke_if_ended(DeliverySet& set, DeliveryId id) {
  const auto* const row = set.delivery(id);
  if (row == nullptr) return;
  if (!set.order_settings(*row).auto_revoke) return;
  const auto* const loaded = set.order(id);
  if (loaded == nullptr) return;
  const auto* const order = &loaded->state;
  // A delivery that the merchant reopened and approved after the stop keeps its shares, unless it is about to
  // end.
  const bool goes_on = is_open(*row) && row->pending.kind < domain::PendingActionKind::stop;
  const bool ended = order->stop_revokes() && !goes_on;
  // An order that is too large to be read is not known to be refunded.
  if (!ended && (order->too_large || !lacks_a_line(*order))) return;
  // The former customers, too: another order of theirs may rely on a share that they have.
  set.save();
  hold_customers_of(set.tx(), std::array{id});
  const auto items = set.items_with_lines(id);
  if (ended) {
    revoke_items(set, items, "order");
  } else {
    revoke_refunded(set, items, domain::plan_items(items_now(items), *order, {}).refunded);
  }
}

std::vector<storage::ItemRow*> assign_items_to_user(DeliverySet& set, const storage::CustomerRow& customer,
                                                    DeliveryId delivery) {
  const auto& user = customer.cloud_user_id;
  const auto any = [&](auto which) { return std::ranges::any_of(set.items(delivery), which); };
  if (any([&](const auto* item) { return is_of_another(*item, user); }))
    change_owner_of_items(set, *set.delivery(delivery), domain::Actor::system(), user);
  if (any([&](const auto* item) { return is_returnable(*item) && item->user_id == user; }))
    return_items(set, *set.delivery(delivery), user);
  return set.items(delivery);
}

bool is_being_revoked(DeliverySet& set, const storage::CustomerRow& customer, const storage::ItemRow& item) {
  const auto* const former = former_item(set, customer, item);
  return former != nullptr && former->status == ItemStatus::revoking && former->revocation_begun;
}

storage::ItemRow& own_item(DeliverySet& set, const storage::CustomerRow& customer, storage::ItemRow& item) {
  const auto& user = customer.cloud_user_id;
  if (item.user_id == user) return item;
  auto* const former = former_item(set, customer, item);
  if (former == nullptr) {
    item.user_id = user;
    item.username = set.delivery(item.delivery)->username;  // empty once erased
    set.changed(item);
    return item;
  }
  if (former->status == ItemStatus::revoking || former->status == ItemStatus::revoke_failed) {
    former->status = former->revocation_begun ? ItemStatus::owed : ItemStatus::shared;
    former->revoked_by.clear();
  }
  merge_items(set, item, *former);
  return *former;
}

}  // namespace presetbridge::services
