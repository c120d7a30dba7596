#include "services/delivery/routing.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "domain/order.h"
#include "services/delivery/items.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"
#include "storage/credit_store.h"
#include "storage/customer_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Tx;

}  // namespace

bool any_free(Tx& tx, const storage::CustomerRow& customer, std::span<const storage::ItemRow> items) {
  const auto& user = customer.cloud_user_id;
  std::unordered_set<std::string> theirs;
  if (customer.id && !user.empty()) {
    for (const auto& item : find_items_of_customers(tx, std::array{customer.id})) {
      const bool has = item.status == ItemStatus::shared || item.status == ItemStatus::already_shared;
      if (has && user_of(item, customer) == user) theirs.insert(item.file_id);
    }
  }
  return std::ranges::any_of(items, [&](const storage::ItemRow& item) {
    if (item.former || item.status != ItemStatus::owed) return false;
    return theirs.contains(item.file_id) || (item.spent && (user.empty() || user_of(item, customer) == user));
  });
}

ResolutionCode known_cause(AccountFacts& facts, const storage::DeliveryRow& row,
                           std::span<const storage::ItemRow> items) {
  if (row.username.empty()) return ResolutionCode::username_missing;
  if (row.dry_run) return ResolutionCode::none;
  const auto cause = facts.cause(row.account);
  if (cause != ResolutionCode::insufficient_credits) return cause;
  const auto cloud_account = facts.standing(row.account).cloud_account;
  const auto known = find_buyers(facts.tx(), std::array{storage::Buyer{cloud_account, row.username, {}}});
  const auto customer = known.empty() ? std::nullopt : find_customer(facts.tx(), known.front());
  const bool free = any_free(facts.tx(), customer.value_or(storage::CustomerRow{}), items);
  return free ? ResolutionCode::none : cause;
}

void route(Tx& tx, IdSource& ids, std::span<storage::DeliveryRow* const> rows, AccountFacts& facts) {
  std::vector<storage::Buyer> buyers;
  std::vector<storage::DeliveryRow*> theirs;
  for (auto* const row : rows) {
    row->customer = {};
    row->cloud_account = {};
    if (row->dry_run) continue;
    const auto& standing = facts.standing(row->account);
    if (standing.status != storage::CredentialsStatus::valid) continue;
    row->cloud_account = standing.cloud_account;
    buyers.push_back({row->cloud_account, row->username, ids.make<CustomerId>()});
    theirs.push_back(row);
    wake_cloud_account(tx, row->cloud_account, tx.now());
  }
  const auto customers = enqueue_buyers(tx, buyers, tx.now());
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i]->customer = customers[i];
}

void queue_or_fail(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row) {
  AccountFacts facts(tx);
  const auto cause = known_cause(facts, row, find_items(tx, row.id));
  if (cause != ResolutionCode::none) {
    return changes.must_apply(
        tx, row, {.cause = domain::Cause::known_cause, .code = cause, .message = facts.words_of(cause, row)});
  }
  route(tx, changes.ids(), std::array{&row}, facts);
  update_delivery(tx, row);
}

domain::ReviewReasons unapproved(Tx& tx, DeliveryId delivery) {
  const auto order = find_order(tx, OrderId{delivery.value});
  if (!order) return {};
  const auto state = domain::decode_order_state(order->state);
  if (!state) throw Error(state.error());
  return state->unapproved();
}

void queue(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row, const Change& change) {
  changes.must_apply(tx, row, change);
  if (row.status == domain::DeliveryStatus::queued) queue_or_fail(tx, changes, row);
}

void resume(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row) {
  queue(tx, changes, row, {.cause = domain::Cause::cause_fixed, .reasons = unapproved(tx, row.id)});
}

}  // namespace presetbridge::services
