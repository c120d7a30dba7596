#include "services/intake/privacy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "crypto/digest.h"
#include "domain/order.h"
#include "services/delivery/items.h"
#include "services/intake/intake.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/privacy_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::DeliveryStatus;
using domain::OrderEvent;
using domain::PendingActionKind;
using storage::PrivacyKind;
using storage::PrivacyRequestRow;
using storage::Tx;

// Orders looked for in one transaction that reads.
constexpr std::size_t kReadBatch = 5'000;
// Shops of other nodes, and those whose erasure failed.
constexpr Millis kPollAgain{60'000};
constexpr Millis kPostponement = std::chrono::minutes{10};  // of a shop that could not be erased

PrivacyKind kind_of(OrderEvent::Kind kind) {
  if (kind == OrderEvent::Kind::customer_redact) return PrivacyKind::customer_redact;
  return kind == OrderEvent::Kind::shop_redact ? PrivacyKind::shop_redact : PrivacyKind::data_request;
}

bool has_personal_fields(const storage::DeliveryRow& row) {
  return !row.email.empty() || !row.raw_username.empty() || !row.username.empty() ||
         !row.pending.name.username.empty();
}

void erase(DeliverySet& set, storage::DeliveryRow& row) {
  set.changed(row);
  row.email.clear();
  row.raw_username.clear();
  row.username.clear();
  row.pending.name = {};
  // It may owe what was added and is not paid.
  if (row.status == DeliveryStatus::completed) drop_owed(set, set.items(row.id));
  if (row.status == DeliveryStatus::completed || row.status == DeliveryStatus::invalidated) return;
  if (row.status == DeliveryStatus::processing) {
    // The job obeys before its next call.
    row.pending = domain::combine(row.pending, {PendingActionKind::erase, "erased", domain::Actor::order()});
    return;
  }
  set.apply(row, {.cause = domain::Cause::erased, .reason = "erased", .actor = domain::Actor::order()});
}

// The people whom the deliveries are, or were, for are found by search no more.
void forget_names(Tx& tx, std::span<const storage::DeliveryRow* const> rows) {
  using storage::KeyOf;
  std::vector<storage::NameOfDelivery> names;
  std::vector<DeliveryId> ids;
  for (const auto* const row : rows) {
    ids.push_back(row->id);
    names.push_back({row->account, row->id, KeyOf::email, row->email});
    names.push_back({row->account, row->id, KeyOf::username, row->username});
  }
  for (const auto& item : find_items_of_job(tx, ids)) {
    if (item.former) names.push_back({item.account, item.delivery, KeyOf::username, item.username});
  }
  delete_delivery_keys(tx, names);
}

// The next orders of the next shop to be erased, after the request `last`. `turn`: whose they are; nothing:
// no request after it has a turn.
void erase_batch_of_shop(Tx& tx, DeliveryChanges& changes, PrivacyRequestId last,
                         const std::map<PrivacyRequestId, Timestamp>& postponed,
                         std::optional<ErasureTurn>& turn) {
  auto request = lock_shop_redaction(tx, last);
  while (request && postponed.contains(request->id) && tx.now() < postponed.at(request->id))
    request = lock_shop_redaction(tx, request->id);
  if (!request) return;
  turn = {request->id, request->integration, tx.now()};
  const auto keys = find_order_keys_after(tx, request->integration, request->done_to, kEraseBatch);
  if (keys.empty()) {
    end_privacy_request(tx, request->id);
    return;
  }
  std::vector<storage::OrderKey> orders;
  for (const auto& key : keys) orders.push_back({request->integration, key});
  erase_orders(tx, changes, orders);
  request->orders += std::ssize(keys);
  request->done_to = keys.back();
  advance_shop_redaction(tx, *request);
}

}  // namespace

void erase_orders(Tx& tx, DeliveryChanges& changes, std::span<const storage::OrderKey> keys) {
  auto orders = lock_orders_by_key(tx, keys);
  std::vector<DeliveryId> ids;
  std::vector<domain::OrderState> states;
  for (const auto& order : orders) {
    ids.push_back(DeliveryId{order.id.value});
    states.push_back(state_of(order));
  }
  std::vector<std::string_view> sent_names;
  for (const auto& state : states) sent_names.emplace_back(state.username);
  const auto customers = customers_of(tx, ids, sent_names);
  hold_customers(tx, customers);

  std::vector<storage::OrderRow> erased;
  std::vector<OrderId> payloads;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    auto& order = orders[i];
    payloads.push_back(order.id);
    if (states[i].erased) continue;
    states[i].erase();
    set_state(order, states[i]);
    order.updated_at = tx.now();
    erased.push_back(std::move(order));
  }
  update_orders(tx, erased);
  delete_order_payloads(tx, payloads);

  DeliverySet set(tx, changes);
  const auto deliveries = set.adopt(lock_deliveries(tx, ids));
  // The end of a job may have given one another customer, who was not held then: all runs again.
  for (const auto* const row : deliveries) {
    if (row->customer && std::ranges::find(customers, row->customer) == customers.end())
      throw storage::DbError(storage::DbError::Kind::conflict,
                             "a delivery got another customer while its erasure waited");
  }
  forget_names(tx, deliveries);
  for (auto* const row : deliveries) {
    const bool ends = row->status == DeliveryStatus::queued || row->status == DeliveryStatus::failed ||
                      row->status == DeliveryStatus::in_review ||
                      row->status == DeliveryStatus::waiting_for_friendship;
    if (ends || has_personal_fields(*row)) erase(set, *row);
  }
  blank_timelines(tx, ids);
  set.save();
  // After save(), which writes items as they were read.
  blank_item_usernames(tx, ids);
  blank_events(tx, ids);
  blank_usernames(tx, customers);
}

bool is_privacy_request(OrderEvent::Kind kind) {
  return kind == OrderEvent::Kind::customer_redact || kind == OrderEvent::Kind::shop_redact ||
         kind == OrderEvent::Kind::data_request;
}

PrivacyRequests::PrivacyRequests(storage::AsyncDatabase& async_db, DeliveryChanges& changes,
                                 Callback shop_to_erase)
    : async_db_(async_db),
      changes_(changes),
      shop_to_erase_(std::move(shop_to_erase)),
      batches_(
          async_db,
          [this](Tx& tx, std::span<const Batch> batches, std::span<std::monostate>) {
            for (const auto& batch : batches) erase_orders(tx, changes_, batch.orders);
          },
          {.max_rows = 1, .turn_bytes = 1}, [](const Batch&) { return std::size_t{1}; },
          {.owner = [](const Batch& batch) { return std::bit_cast<std::uint64_t>(batch.account.value); }}) {}

Task<Expected<Accepted>> PrivacyRequests::accept(Executor& executor, IncomingOrder request) {
  const auto& integration = *request.integration;
  const auto kind = kind_of(request.event.kind);
  auto& named = request.event.order_ids;
  std::ranges::sort(named);
  named.erase(std::ranges::unique(named).begin(), named.end());
  Accepted answer;
  answer.reason = kind == PrivacyKind::customer_redact ? "customer_redacted" : "privacy_request_received";

  const auto slot = under_way_.take({{to_string(integration.account), kMostPrivacyRequests}});
  if (!slot) co_return fail("OVERLOADED", "The service is busy. Try again in a moment.");

  // Keyed, so that nothing can be found out of whom it names by trying.
  const auto key = crypto::hmac_sha256(std::as_bytes(std::span(integration.secret)), request.payload);
  PrivacyRequestRow row{.id = changes_.ids().make<PrivacyRequestId>(),
                        .account = integration.account,
                        .integration = integration.id,
                        .kind = kind,
                        .orders = std::ssize(named)};
  auto begun = co_await async_db_.write(executor, [&](Tx& tx) -> std::optional<PrivacyRequestRow> {
    if (integration_versions(tx, std::array{integration.id}).front() != integration.version)
      return std::nullopt;
    row.received_at = tx.now();
    if (request.key) count_api_key_webhook(tx, request.key, 1, 0);
    count_activity(tx, {integration.account, integration.id, request.key}, storage::Activity::requests, 1,
                   tx.now());
    auto stored = add_privacy_request(tx, row, key);
    // The rest is the merchant's.
    if (kind == PrivacyKind::data_request) {
      storage::add_orders_named(tx, stored.id, named);
      end_privacy_request(tx, stored.id);
    }
    return stored;
  });
  if (!begun) co_return std::unexpected(begun.error());
  answer.stale_integration = !*begun;
  if (!*begun) co_return answer;
  if (kind == PrivacyKind::shop_redact) shop_to_erase_();
  if (kind != PrivacyKind::customer_redact) co_return answer;

  std::vector<storage::OrderKey> known;
  for (std::size_t done = 0; done < named.size(); done += kReadBatch) {
    const auto next = std::span(named).subspan(done, std::min(kReadBatch, named.size() - done));
    auto found = co_await async_db_.read(executor, [&](Tx& tx) {
      std::vector<storage::OrderKey> keys;
      for (const auto& order_key : next) keys.push_back({integration.id, order_key});
      return known_orders(tx, keys);
    });
    if (!found) co_return std::unexpected(found.error());
    known.insert(known.end(), found->begin(), found->end());
  }
  for (std::size_t done = 0; done < known.size(); done += kEraseBatch) {
    const auto next = std::span(known).subspan(done, std::min(kEraseBatch, known.size() - done));
    auto erased = co_await batches_.add(executor, {integration.account, {next.begin(), next.end()}});
    if (!erased) co_return std::unexpected(erased.error());
  }
  auto ended = co_await async_db_.write(executor, [&](Tx& tx) { end_privacy_request(tx, (*begun)->id); });
  if (!ended) co_return std::unexpected(ended.error());
  co_return answer;
}

void ShopErasure::start() {
  tasks_.start_loop(loop(), "erasure of shops");
}

void ShopErasure::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> ShopErasure::loop() {
  while (!tasks_.stopping()) {
    std::optional<ErasureTurn> turn;
    auto erased = co_await async_db_.write(scheduler_, [this, &turn](Tx& tx) {
      turn.reset();
      erase_batch_of_shop(tx, changes_, last_, postponed_, turn);
    });
    bool rest = false;
    if (!erased) {
      const bool logged = storage::is_logged(erased.error());
      if (!logged)
        log_.error("a shop could not be erased; it is tried again",
                   {{"request", turn ? to_string(turn->request) : ""},
                    {"integration", turn ? to_string(turn->integration) : ""},
                    {"error", erased.error().message}});
      // The others have their turns meanwhile.
      if (turn && !logged) postponed_[turn->request] = turn->at + kPostponement;
      rest = !turn || logged;
    } else if (turn) {
      postponed_.erase(turn->request);
    } else {
      rest = !last_;  // nothing in a whole round
    }
    last_ = turn ? turn->request : PrivacyRequestId{};
    if (rest && !tasks_.stopping()) co_await tasks_.wait(kPollAgain);
  }
}

}  // namespace presetbridge::services
