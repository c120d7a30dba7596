#include "services/buyers/buyers.h"

#include <algorithm>
#include <array>
#include <span>

#include "services/delivery/customer_change.h"
#include "services/delivery/items.h"
#include "services/delivery/view.h"
#include "storage/stores/account_store.h"
#include "storage/stores/buyer_act_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::BuyerState;
using domain::ItemStatus;
using storage::Tx;

// Returns the state of an item of the present customer. `stays`: it was taken back, and the buyer has the file by
// another order.
std::optional<BuyerItemState> state_of(const storage::ItemRow& item, bool stays) {
  switch (reported_status(item)) {
    case ItemStatus::owed:
    case ItemStatus::sharing:
      return BuyerItemState::on_its_way;
    case ItemStatus::shared:
    case ItemStatus::already_shared:
    case ItemStatus::delivered_by_hand:
    case ItemStatus::revoking:
    case ItemStatus::revoke_failed:
      return BuyerItemState::delivered;
    case ItemStatus::revoked:
      return stays ? BuyerItemState::delivered : BuyerItemState::taken_back;
    case ItemStatus::dropped:
      return std::nullopt;
  }
  return std::nullopt;
}

// Whether the store took back the sale of a delivered order: all of it was refunded, or it was cancelled.
bool is_sale_over(Tx& tx, const storage::DeliveryRow& row) {
  const auto order = find_order(tx, OrderId{row.id.value});
  const auto state = order ? domain::decode_order_state(order->state) : domain::OrderState{};
  return state && (state->stop_revokes() || domain::pays_for_nothing(*state));
}

// Reads what an answer shows of the delivery.
BuyerView buyer_view_of(Tx& tx, const storage::DeliveryRow& row, int jobs_per_minute) {
  BuyerView view;
  auto items = find_items(tx, row.id);
  const bool shared = anything_shared(pointers(items));
  std::erase_if(items, &storage::ItemRow::former);
  const auto acts = find_buyer_acts(tx, row.id);
  view.state = domain::buyer_state(row.status, row.resolution);
  if (const auto account = find_account(tx, row.account)) {
    view.merchant = account->display_name.empty() ? account->name : account->display_name;
    view.support_email = account->support_email;
    view.support_url = account->support_url;
  }
  view.order_number = find_order_names(tx, std::array{OrderId{row.id.value}}).front().number;
  view.username = row.username;
  if (const auto sender = find_cloud_account(tx, row.cloud_account)) view.sender = sender->username;
  const auto outlook = outlook_of(tx, row, jobs_per_minute);
  view.starts_at = outlook.late_start;
  if (outlook.accepted) view.state = BuyerState::on_its_way;
  if (outlook.in_outage) view.state = BuyerState::delayed;
  if (view.state == BuyerState::accept_request) {
    if (const auto customer = find_customer(tx, row.customer)) view.requested_at = customer->requested_at;
  }
  const auto staying = find_staying_items(tx, items);
  for (const auto& item : items) {
    const auto state = state_of(item, staying.contains(item.id));
    if (state) view.items.push_back({item.name, item.kind, *state});
  }
  // An order that was too large to be read has no item, and was delivered by hand.
  const bool keeps_nothing =
      !view.items.empty() && std::ranges::all_of(view.items, [](const BuyerItem& item) {
        return item.state == BuyerItemState::taken_back;
      });
  const bool may_be_over = row.refunded || row.cancelled;
  if (view.state == BuyerState::delivered && (keeps_nothing || (may_be_over && is_sale_over(tx, row))))
    view.state = BuyerState::closed;
  view.dry_run = row.dry_run;
  view.can_correct = domain::may_correct(view.state, shared, acts);
  view.can_retry = domain::may_retry(view.state, acts);
  if (const auto wait = domain::buyer_wait(acts, tx.now()); wait > Millis{0})
    view.can_act_at = tx.now() + wait;
  view.updated_at = row.updated_at;
  return view;
}

identity::LoginFailure refused(const char* code, const char* message) {
  return identity::LoginFailure{{code, message, {}}};
}

// Refuses the act, or returns nothing if it is allowed.
std::optional<identity::LoginFailure> refusal(BuyerState state, bool anything_shared, bool correction,
                                              const domain::BuyerActs& acts, Timestamp now) {
  const bool ever =
      correction ? domain::may_correct(state, anything_shared, {}) : domain::may_retry(state, {});
  if (!ever) return refused("INVALID_TRANSITION", "That would change nothing any more. Ask the shop.");
  const bool still =
      correction ? domain::may_correct(state, anything_shared, acts) : domain::may_retry(state, acts);
  if (!still) return refused("LIMIT_REACHED", "That was done too often for this delivery. Ask the shop.");
  if (const auto wait = domain::buyer_wait(acts, now); wait > Millis{0})
    return identity::rate_limit_exceeded(wait);
  return std::nullopt;
}

// A buyer's attempt costs the merchant's other buyers no turn: it is looked up in the lowest class,
// unless other deliveries of the customer have work too.
void queue_last(Tx& tx, const storage::DeliveryRow& row) {
  if (row.status != domain::DeliveryStatus::queued || !row.customer) return;
  auto customer = lock_customer(tx, row.customer);
  if (!customer || customer->queue_state != storage::QueueState::queued ||
      customer->job_class != domain::JobClass::first_request)
    return;
  if (lock_open_deliveries(tx, std::array{row.customer}, 2).size() > 1) return;
  customer->job_class = domain::JobClass::retry;
  update_customer(tx, *customer);
}

}  // namespace

Task<Expected<BuyerView>> Buyers::view(Executor& executor, DeliveryId delivery) {
  co_return co_await async_db_.read(executor,
                                    [delivery, jobs = jobs_per_minute_](Tx& tx) -> Expected<BuyerView> {
                                      const auto row = find_delivery(tx, delivery);
                                      if (!row) return fail("NOT_FOUND", "There is no such delivery.");
                                      return buyer_view_of(tx, *row, jobs);
                                    });
}

Task<identity::LoginResult<BuyerView>> Buyers::correct(Executor& executor, DeliveryId delivery,
                                                       std::string username) {
  return act(executor, delivery, std::move(username));
}

Task<identity::LoginResult<BuyerView>> Buyers::retry(Executor& executor, DeliveryId delivery) {
  return act(executor, delivery, "");
}

Task<identity::LoginResult<BuyerView>> Buyers::act(Executor& executor, DeliveryId delivery,
                                                   std::string username) {
  using Result = identity::LoginResult<BuyerView>;
  auto result = co_await async_db_.write(executor, [this, delivery, &username](Tx& tx) -> Expected<Result> {
    DeliverySet set(tx, changes_);
    set.lock_order(delivery);
    hold_customers_of(tx, std::array{delivery});
    auto* const row = set.delivery(delivery);
    if (row == nullptr) return fail("NOT_FOUND", "There is no such delivery.");
    auto acts = find_buyer_acts(tx, delivery);
    const auto state = domain::buyer_state(row->status, row->resolution);
    const bool correction = !username.empty();
    if (auto no = refusal(state, anything_shared(set.items(delivery)), correction, acts, tx.now()))
      return Result{std::unexpected(std::move(*no))};
    if (auto done = DeliveryActions::retry_row(set, *row, username, domain::Actor::buyer()); !done)
      throw Error(done.error());
    set.save();
    queue_last(tx, *row);
    ++(correction ? acts.corrections : acts.retries);
    acts.acted_at = tx.now();
    put_buyer_acts(tx, row->account, delivery, acts);
    return Result{buyer_view_of(tx, *row, jobs_per_minute_)};
  });
  if (!result) co_return Result{std::unexpected(identity::LoginFailure{std::move(result.error())})};
  if (*result) changed_();
  co_return std::move(*result);
}

}  // namespace presetbridge::services
