#include "api/handlers/purchases_handlers.h"

#include <array>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"

namespace presetbridge::api {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"pending", "paid",     "failed",
                                                     "expired", "refunded", "disputed"};

json::object pack_json(const domain::CreditPack& pack) {
  return {{"id", pack.id},
          {"name", pack.name},
          {"credits", pack.credits},
          {"amount", pack.amount},
          {"currency", pack.currency}};
}

json::object to_json(const storage::PurchaseRow& row) {
  const auto& at = row.standing;
  return {{"id", to_string(row.id)},
          {"state", domain::to_string(at.state)},
          {"packId", row.pack_id},
          {"packName", row.pack_name},
          {"credits", row.credits},
          {"amount", row.amount},
          {"currency", row.currency},
          {"live", row.live},
          {"url", text_or_null(row.url)},
          {"receiptUrl", text_or_null(row.receipt_url)},
          {"creditsGranted", at.granted},
          {"creditsReversed", at.reversed},
          {"amountRefunded", at.refunded},
          {"amountDisputed", at.disputed},
          {"problem", text_or_null(at.problem)},
          {"createdAt", to_iso8601(row.created_at)},
          {"expiresAt", to_iso8601(row.expires_at)},
          {"paidAt", time_or_null(row.paid_at)}};
}

Task<Reply> packs(PurchasesDeps deps, Call) {
  json::array data;
  for (const auto& pack : deps.purchases.packs()) data.push_back(pack_json(pack));
  co_return page_response(std::move(data), std::nullopt);
}

Task<Reply> checkout(PurchasesDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  const auto pack = (*body)->text("packId", {.max = 40, .exact = true});
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (const auto wait = take(deps.checkouts, call); wait > Millis{0}) co_return too_often(wait);
  const auto bought = co_await deps.purchases.buy(call.executor(), call.principal, pack);
  if (!bought) co_return std::unexpected(bought.error());
  co_return json_response(201, to_json(*bought));
}

Task<Reply> list(PurchasesDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  QueryFields query(call);
  const auto wanted = query.optional_choice("state", kStates);
  if (auto error = query.problems()) co_return std::unexpected(*error);
  const auto state = wanted ? domain::parse_purchase_state(*wanted) : std::nullopt;
  const auto found = co_await deps.purchases.list(call.executor(), call.principal, state, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, to_json);
}

Task<Reply> show(PurchasesDeps deps, Call call) {
  const auto id = call.id<PurchaseId>("purchase");
  if (!id) co_return std::unexpected(id.error());
  const auto found = co_await deps.purchases.get(call.executor(), call.principal, *id);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(*found));
}

Task<Reply> refresh(PurchasesDeps deps, Call call) {
  const auto id = call.id<PurchaseId>("purchase");
  if (!id) co_return std::unexpected(id.error());
  if (const auto wait = take(deps.refreshes, call); wait > Millis{0}) co_return too_often(wait);
  const auto found = co_await deps.purchases.refresh(call.executor(), call.principal, *id);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, to_json(*found));
}

}  // namespace

void add_purchases_routes(Router& router, PurchasesDeps deps) {
  const auto people = Access::needs(Permission::account);
  const auto owners = Access::needs(Permission::owner);
  router.add("GET", "/api/credits/packs", people, with(deps, packs));
  router.add("POST", "/api/credits/checkout", owners.after_step_up(), with(deps, checkout));
  router.add("GET", "/api/credits/purchases", people, with(deps, list));
  router.add("GET", "/api/credits/purchases/{purchase}", people, with(deps, show));
  router.add("POST", "/api/credits/purchases/{purchase}/refresh", owners, with(deps, refresh));
}

}  // namespace presetbridge::api
