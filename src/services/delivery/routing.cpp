#include "services/delivery/routing.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

#include "domain/order.h"
#include "domain/resolution.h"
#include "domain/username.h"
#include "services/delivery/items.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Tx;

// The cause that keeps the delivery from being worked on, or none.
ResolutionCode known_cause(DeliverySet& set, const storage::DeliveryRow& row, Items items) {
  if (row.username.empty()) return ResolutionCode::username_missing;
  if (row.dry_run) return ResolutionCode::none;
  const auto cause = set.cause(row.account);
  if (cause != ResolutionCode::insufficient_credits) return cause;
  const auto cloud_account = set.standing(row.account).cloud_account;
  const auto known = find_buyers(set.tx(), std::array{storage::Buyer{cloud_account, row.username, {}}});
  const auto customer = known.empty() ? std::nullopt : find_customer(set.tx(), known.front());
  const bool free = any_free(set, customer.value_or(storage::CustomerRow{}), items);
  return free ? ResolutionCode::none : cause;
}

// The message of a cause known without a job, where its usual words say too little; else empty.
std::string words_of(DeliverySet& set, ResolutionCode cause, const storage::DeliveryRow& row) {
  if (cause == ResolutionCode::credentials_missing && set.standing(row.account).unreadable)
    return std::string(domain::kUnreadableLogin);
  // A text that would be a name if it were shorter.
  const bool too_long = !domain::normalise_username(row.raw_username, std::string_view::npos).empty();
  if (cause == ResolutionCode::username_missing && too_long)
    return "The username that came with the order is longer than a username may be.";
  return {};
}

}  // namespace

bool any_free(DeliverySet& set, const storage::CustomerRow& customer, Items items) {
  const auto& user = customer.cloud_user_id;
  std::unordered_set<std::string> theirs;
  if (customer.id && !user.empty()) {
    for (const auto* const item : set.items_of(customer.id)) {
      const bool has = item->status == ItemStatus::shared || item->status == ItemStatus::already_shared;
      if (has && user_of(*item, customer) == user) theirs.insert(item->file_id);
    }
  }
  // A file that this user was charged for under a former name costs nothing again (spec 3.10).
  for (const auto* const item : items) {
    if (item->former && item->spent && (user.empty() || user_of(*item, customer) == user))
      theirs.insert(item->file_id);
  }
  return std::ranges::any_of(items, [&](const storage::ItemRow* item) {
    if (item->former || item->status != ItemStatus::owed) return false;
    return theirs.contains(item->file_id) ||
           (item->spent && (user.empty() || user_of(*item, customer) == user));
  });
}

std::optional<Change> known_failure(DeliverySet& set, const storage::DeliveryRow& row, Items items) {
  const auto cause = known_cause(set, row, items);
  if (cause == ResolutionCode::none) return std::nullopt;
  return Change{.cause = domain::Cause::known_cause, .code = cause, .message = words_of(set, cause, row)};
}

void route(DeliverySet& set, std::span<storage::DeliveryRow* const> rows) {
  std::vector<storage::Buyer> buyers;
  std::vector<storage::DeliveryRow*> theirs;
  for (auto* const row : rows) {
    const auto before = std::exchange(row->cloud_account, {});
    row->customer = {};
    if (row->dry_run) continue;
    const auto& standing = set.standing(row->account);
    if (standing.status != storage::CredentialsStatus::valid) continue;
    row->cloud_account = standing.cloud_account;
    // Another cloud user makes a request of their own, and the customer has the whole time to answer (spec 3.5).
    if (before && before != row->cloud_account) {
      row->waiting_since.reset();
      row->asks_anew = false;
    }
    buyers.push_back({row->cloud_account, row->username, set.changes().ids().make<CustomerId>()});
    theirs.push_back(row);
    wake_cloud_account(set.tx(), row->cloud_account, set.now());
  }
  const auto customers = set.enqueue(buyers, set.now());
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i]->customer = customers[i];
}

void queue_or_fail(DeliverySet& set, storage::DeliveryRow& row) {
  set.save();  // known_failure() reads the account's standing and the buyer's rows
  if (const auto failure = known_failure(set, row, set.items(row.id))) return set.apply(row, *failure);
  route(set, std::array{&row});
  set.changed(row);
}

domain::ReviewReasons unapproved(DeliverySet& set, DeliveryId delivery) {
  const auto* const order = set.order(delivery);
  return order == nullptr ? domain::ReviewReasons{} : order->state.unapproved();
}

void queue(DeliverySet& set, storage::DeliveryRow& row, const Change& change) {
  set.apply(row, change);
  if (row.status == domain::DeliveryStatus::queued) queue_or_fail(set, row);
}

void resume(DeliverySet& set, storage::DeliveryRow& row) {
  queue(set, row, {.cause = domain::Cause::cause_fixed, .reasons = unapproved(set, row.id)});
}

}  // namespace presetbridge::services
