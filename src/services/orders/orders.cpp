#include "services/orders/orders.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "identity/audit.h"
#include "services/delivery/reprocess.h"
#include "services/intake/payload.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using identity::Principal;
using storage::ListedOrder;
using storage::Tx;

// A store that changes while its order is processed is read again this often.
constexpr int kMaxReads = 3;
// The largest that a body of a request may be set to be (app/config/config.cpp).
constexpr std::size_t kMaxPayload = std::size_t{64} << 20;

std::unexpected<Error> no_such_order() {
  return fail("NOT_FOUND", "There is no such order.");
}

std::optional<storage::OrderRow> visible(const Principal& by, std::optional<storage::OrderRow> row) {
  if (!row || row->account != by.account || !by.sees(row->integration)) return std::nullopt;
  return row;
}

std::optional<storage::DeliveryStanding> standing_of(const std::optional<storage::DeliveryRow>& row) {
  if (!row) return std::nullopt;
  return storage::DeliveryStanding{.status = row->status,
                                   .resolution = row->resolution,
                                   .username = row->username,
                                   .dry_run = row->dry_run};
}

// An order that an older program wrote last is read from its state.
void complete(Tx& tx, ListedOrder& order) {
  if (order.listed) return;
  const auto row = find_order(tx, order.id);
  const auto state = row ? domain::decode_order_state(row->state) : domain::OrderState{};
  if (state) order.summary = domain::summarise(*state);
}

// An order with all that is stored about it.
struct WholeOrder {
  storage::OrderRow row;
  std::optional<storage::DeliveryRow> delivery;
  std::vector<storage::ItemRow> items;
  std::optional<Timestamp> payload_received_at;
  std::string integration_name;
};

std::string name_of(Tx& tx, IntegrationId id) {
  auto row = find_integration(tx, id);
  return row ? std::move(row->name) : std::string();
}

Expected<WholeOrder> read_whole(Tx& tx, const Principal& by, OrderId id) {
  auto row = visible(by, find_order(tx, id));
  if (!row) return no_such_order();
  const DeliveryId delivery{id.value};
  auto name = name_of(tx, row->integration);
  return WholeOrder{std::move(*row), find_delivery(tx, delivery), find_items(tx, delivery),
                    find_order_payload_time(tx, id), std::move(name)};
}

Expected<OrderView> view_of(WholeOrder whole, const IntegrationSnapshot* store) {
  const auto& row = whole.row;
  const auto state = domain::decode_order_state(row.state);
  if (!state) return std::unexpected(state.error());
  OrderView view{.order = {.id = row.id,
                           .integration = row.integration,
                           .order_key = row.order_key,
                           .outcome = row.outcome,
                           .unmapped = row.unmapped,
                           .received_at = row.received_at,
                           .updated_at = row.updated_at,
                           .summary = domain::summarise(*state)},
                 .integration_name = std::move(whole.integration_name),
                 .delivery = standing_of(whole.delivery),
                 .lines = {},
                 .payload_received_at = whole.payload_received_at};
  const auto* const delivery = whole.delivery ? &*whole.delivery : nullptr;
  view.reprocessable = store != nullptr && may_reprocess(*state, delivery, store->rules.active).has_value();
  std::unordered_map<std::string, std::vector<const storage::ItemRow*>> files;
  for (const auto& item : whole.items) {
    if (item.former) continue;
    for (const auto& line : line_ids(item)) files[line].push_back(&item);
  }
  // The lines of an order that is too large to be read are not known.
  if (state->too_large) return view;
  const domain::PaidQuantities paid(*state);
  for (const auto& line : state->lines) {
    auto& shown = view.lines.emplace_back();
    shown.line = line;
    shown.refunded = line.quantity - paid.of(line);
    if (store != nullptr) {
      const auto match = store->rules.mappings->match(line);
      if (match) shown.matched_by = match->type;
      if (match) shown.mappings = match->mappings;
    }
    const auto& owed = files[line.line_id];
    shown.file_count = owed.size();
    for (std::size_t i = 0; i < std::min(owed.size(), kFilesOfLine); ++i) shown.files.push_back(*owed[i]);
  }
  return view;
}

}  // namespace

Task<Expected<storage::Page<OrderInList>>> Orders::list(Executor& executor, Principal by, OrderQuery query) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    const storage::OrderFilter filter{.account = by.account,
                                      .outcome = query.outcome,
                                      .integration = query.integration,
                                      .unmapped = query.unmapped,
                                      .search = read_search(tx, by.account, query.search),
                                      .received_from = query.received_from,
                                      .received_before = query.received_before};
    auto found = list_orders(tx, filter, query.page,
                             [&](const ListedOrder& order) { return by.sees(order.integration); });
    std::vector<DeliveryId> ids;
    for (auto& order : found.rows) {
      complete(tx, order);
      ids.push_back(DeliveryId{order.id.value});
    }
    auto standings = find_delivery_standings(tx, ids);
    storage::Page<OrderInList> page{.rows = {}, .next = found.next};
    std::map<IntegrationId, std::string> stores;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto& row = page.rows.emplace_back(OrderInList{std::move(found.rows[i]), {}, {}});
      const auto [store, fresh] = stores.try_emplace(row.order.integration);
      if (fresh) store->second = name_of(tx, store->first);
      row.integration_name = store->second;
      row.delivery = std::move(standings[i]);
    }
    return page;
  });
}

Task<Expected<OrderView>> Orders::get(Executor& executor, Principal by, OrderId id) {
  auto whole = co_await async_db_.read(executor, [&](Tx& tx) { return read_whole(tx, by, id); });
  if (!whole) co_return std::unexpected(whole.error());
  auto store = co_await directory_.find(executor, whole->row.integration);
  if (!store) co_return std::unexpected(store.error());
  co_return view_of(std::move(*whole), store->get());
}

Task<Expected<OrderPayload>> Orders::payload(Executor& executor, Principal by, OrderId id) {
  auto stored = co_await async_db_.read(executor, [&](Tx& tx) -> Expected<storage::StoredPayload> {
    if (!visible(by, find_order(tx, id))) return no_such_order();
    auto payload = find_order_payload(tx, id);
    if (!payload) return fail("NOT_FOUND", "The store's payload is not stored any more.");
    return std::move(*payload);
  });
  if (!stored) co_return std::unexpected(stored.error());
  auto body = decompress_payload(stored->body, kMaxPayload);
  if (!body) co_return std::unexpected(body.error());
  co_return OrderPayload{stored->received_at, std::move(*body)};
}

std::optional<Expected<void>> reprocess_in(Tx& tx, DeliveryChanges& changes, OrderId id,
                                           const IntegrationSnapshot& store, const ReprocessedFor& asked) {
  auto order = lock_order(tx, id);
  if (!order) return Expected<void>(no_such_order());
  if (order->integration != store.id) return std::nullopt;
  if (integration_versions(tx, std::array{store.id}).front() != store.version) return std::nullopt;
  const ApiKeyId key = asked.key ? asked.key : store.owning_key;
  return reprocess_order(tx, changes, std::move(*order), store.rules, asked.actor, key);
}

Task<Expected<OrderView>> Orders::reprocess(Executor& executor, Principal by, OrderId id) {
  auto integration = co_await async_db_.read(executor, [&](Tx& tx) -> Expected<IntegrationId> {
    const auto row = visible(by, find_order(tx, id));
    if (!row) return no_such_order();
    return row->integration;
  });
  if (!integration) co_return std::unexpected(integration.error());
  for (int read = 0; read < kMaxReads; ++read) {
    auto store = co_await directory_.find(executor, *integration);
    if (!store) co_return std::unexpected(store.error());
    if (!*store) co_return fail("INVALID_TRANSITION", "The store is archived.");
    auto whole = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<std::optional<WholeOrder>> {
      const auto done = reprocess_in(tx, changes_, id, **store, {by.actor(), by.key.value_or(ApiKeyId{})});
      if (!done) return std::nullopt;
      if (!*done) return std::unexpected(done->error());
      identity::audit(tx, changes_.ids(), by, {.action = "order.reprocessed", .target = to_string(id)});
      auto shown = read_whole(tx, by, id);
      if (!shown) throw Error(shown.error());
      return std::optional(std::move(*shown));
    });
    if (!whole) co_return std::unexpected(whole.error());
    if (*whole) {
      changed_();
      co_return view_of(std::move(**whole), store->get());
    }
    directory_.forget(*integration);
  }
  co_return fail("OVERLOADED", "The store is being changed; try again.");
}

}  // namespace presetbridge::services
