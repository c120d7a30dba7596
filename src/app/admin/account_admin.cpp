#include "app/admin/account_admin.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <optional>
#include <utility>

#include "app/admin/admin_request.h"
#include "identity/principal.h"
#include "storage/stores/account_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/disabled_account_store.h"
#include "storage/stores/order_list.h"
#include "storage/stores/order_store.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;

using storage::Tx;

constexpr int kAccounts = 200;  // a page
constexpr int kKeys = 100;
constexpr int kOrders = 20;

json::value time_or_null(const std::optional<Timestamp>& time) {
  return time ? json::value(to_iso8601(*time)) : json::value(nullptr);
}

json::object key_json(const services::ApiKey& key) {
  json::array permissions;
  for (const auto name : key.permissions.names()) permissions.emplace_back(name);
  json::array stores;
  for (const auto id : key.integrations.ids()) stores.emplace_back(to_string(id));
  return {{"id", to_string(key.id)},
          {"name", key.name},
          {"preview", key.preview},
          {"active", key.active},
          {"permissions", std::move(permissions)},
          {"integrationIds", std::move(stores)},
          {"rateLimit", key.rate_limit},
          {"usedThisHour", key.used_this_hour},
          {"requests", key.requests},
          {"deliveries", key.deliveries},
          {"createdAt", to_iso8601(key.created_at)},
          {"expiresAt", time_or_null(key.expires_at)},
          {"lastActiveAt", time_or_null(key.last_active_at)}};
}

json::value delivery_json(Tx& tx, OrderId order) {
  const auto row = storage::find_delivery(tx, DeliveryId{order.value});
  if (!row) return nullptr;
  return json::object{{"id", to_string(row->id)},
                      {"status", domain::to_string(row->status)},
                      {"resolutionCode", row->resolution == domain::ResolutionCode::none
                                             ? json::value(nullptr)
                                             : json::value(domain::to_string(row->resolution))},
                      {"message", row->message},
                      {"attemptCount", row->attempt_count},
                      {"nextAttemptAt", time_or_null(row->next_attempt_at)},
                      {"createdAt", to_iso8601(row->created_at)},
                      {"updatedAt", to_iso8601(row->updated_at)},
                      {"completedAt", time_or_null(row->completed_at)}};
}

// Returns the order as JSON; an empty object if there is none.
json::object order_json(Tx& tx, OrderId id) {
  const auto row = storage::find_order(tx, id);
  if (!row) return {};
  return {{"id", to_string(row->id)},
          {"account", to_string(row->account)},
          {"integration", to_string(row->integration)},
          {"orderId", row->order_key},
          {"orderNumber", row->summary.number},
          {"outcome", to_string(row->outcome)},
          {"unmapped", row->unmapped},
          {"receivedAt", to_iso8601(row->received_at)},
          {"updatedAt", to_iso8601(row->updated_at)},
          {"delivery", delivery_json(tx, row->id)}};
}

}  // namespace

Task<Expected<json::object>> AccountAdmin::list(Executor& executor, json::object request) {
  storage::PageRequest page{.limit = kAccounts};
  if (const auto cursor = text_of(request, "cursor"); !cursor.empty()) {
    const auto before = parse_id<AccountKind>(cursor);
    if (!before) co_return no_such("account", cursor);
    page.before = before->value;
  }
  co_return co_await async_db_.read(executor, [page](Tx& tx) {
    json::object answer;
    json::array accounts;
    const auto disabled = storage::disabled_accounts(tx);
    const auto rows = storage::list_accounts(tx, page);
    for (const auto& row : rows.rows) {
      const auto balance = storage::find_balance(tx, row.id);
      accounts.push_back(json::object{{"id", to_string(row.id)},
                                      {"name", row.name},
                                      {"createdAt", to_iso8601(row.created_at)},
                                      {"credits", balance ? balance->available() : 0},
                                      {"disabled", std::ranges::binary_search(disabled, row.id)}});
    }
    answer["accounts"] = std::move(accounts);
    if (rows.next) answer["nextCursor"] = to_string(AccountId{*rows.next});
    return answer;
  });
}

Task<Expected<json::object>> AccountAdmin::disable(Executor& executor, json::object request) {
  const auto name = text_of(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!account) co_return no_such("account", name);
  const auto changed =
      co_await disabled_.disable(executor, *account, text_of(request, "reason"), operator_of(request));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json::object{{"id", name}, {"disabled", true}, {"changed", *changed}};
}

Task<Expected<json::object>> AccountAdmin::enable(Executor& executor, json::object request) {
  const auto name = text_of(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!account) co_return no_such("account", name);
  const auto changed = co_await disabled_.enable(executor, *account, operator_of(request));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json::object{{"id", name}, {"disabled", false}, {"changed", *changed}};
}

Task<Expected<json::object>> AccountAdmin::list_keys(Executor& executor, json::object request) {
  const auto name = text_of(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!account) co_return no_such("account", name);
  storage::PageRequest page{.limit = kKeys};
  if (const auto cursor = text_of(request, "cursor"); !cursor.empty()) {
    const auto before = parse_id<ApiKeyKind>(cursor);
    if (!before) co_return no_such("API key", cursor);
    page.before = before->value;
  }
  auto known = co_await async_db_.read(
      executor, [&](Tx& tx) { return storage::find_account(tx, *account).has_value(); });
  if (!known) co_return std::unexpected(known.error());
  if (!*known) co_return no_such("account", name);
  identity::Principal owner;
  owner.account = *account;
  const auto found = co_await keys_.list(executor, std::move(owner), page, std::nullopt);
  if (!found) co_return std::unexpected(found.error());
  json::array keys;
  for (const auto& key : found->rows) keys.push_back(key_json(key));
  json::object answer{{"keys", std::move(keys)}};
  if (found->next) answer["nextCursor"] = to_string(ApiKeyId{*found->next});
  co_return answer;
}

Task<Expected<json::object>> AccountAdmin::find_order(Executor& executor, json::object request) {
  const auto wanted = text_of(request, "order");
  std::optional<OrderId> id = parse_id<OrderKind>(wanted);
  if (const auto delivery = parse_id<DeliveryKind>(wanted)) id = OrderId{delivery->value};
  const auto name = text_of(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!name.empty() && !account) co_return no_such("account", name);
  if (!id && !account) {
    co_return fail(
        "VALIDATION_FAILED",
        "Give --account: only ord_… and del_… are found without it (list-accounts prints the accounts).");
  }
  auto found = co_await async_db_.read(executor, [&](Tx& tx) {
    json::array orders;
    std::vector<OrderId> ids;
    if (id) {
      ids.push_back(*id);
    } else {
      const auto rows = storage::list_orders(
          tx, {.account = *account, .search = storage::read_search(tx, *account, wanted)}, {.limit = kOrders},
          [](const storage::ListedOrder&) { return true; });
      for (const auto& row : rows.rows) ids.push_back(row.id);
    }
    for (const auto one : ids) {
      auto order = order_json(tx, one);
      if (!order.empty() && (!account || order.at("account").as_string() == name))
        orders.push_back(std::move(order));
    }
    return orders;
  });
  if (!found) co_return std::unexpected(found.error());
  if (found->empty()) co_return no_such("order", wanted);
  co_return json::object{{"orders", std::move(*found)}};
}

}  // namespace presetbridge::app
