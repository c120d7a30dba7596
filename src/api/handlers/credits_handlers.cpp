#include "api/handlers/credits_handlers.h"

#include <array>
#include <string>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"
#include "base/csv.h"

namespace presetbridge::api {
namespace {

constexpr std::int64_t kHighestLowAt = 1'000'000;

json::object balance_json(const CreditsDeps& deps, const services::Credits::View& view) {
  const auto& b = view.balance;
  return {{"available", b.available()},
          {"granted", b.granted},
          {"purchased", b.purchased},
          {"reversed", b.reversed},
          {"spent", b.spent},
          {"held", b.held},
          {"debt", b.debt},
          {"lowThreshold", view.low_at.value_or(deps.usual_low_at)},
          {"perDay", hundredths_json(view.pace.per_day_hundredths)},
          {"runsOutAt", time_or_null(view.pace.runs_out_at)}};
}

Task<Reply> balance(CreditsDeps deps, Call call) {
  const auto found = co_await deps.credits.balance(call.executor(), call.principal);
  if (!found) co_return std::unexpected(found.error());
  co_return json_response(200, balance_json(deps, *found));
}

Task<Reply> change(CreditsDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto low_at = fields.optional_integer("lowThreshold", 0, kHighestLowAt);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!low_at && !fields.is_null("lowThreshold")) {
    co_return std::unexpected(invalid_fields({{"lowThreshold", "is required; null: as the service is set"}}));
  }
  const auto changed = co_await deps.credits.set_low_at(call.executor(), call.principal, low_at);
  if (!changed) co_return std::unexpected(changed.error());
  co_return json_response(200, balance_json(deps, *changed));
}

json::object to_json(const storage::LedgerEntry& entry) {
  return {{"id", to_string(entry.id)},
          {"at", to_iso8601(entry.at)},
          {"kind", to_string(entry.kind)},
          {"credits", entry.credits},
          {"itemId", id_or_null(entry.item)},
          {"deliveryId", id_or_null(entry.delivery)},
          {"orderId", text_or_null(entry.order_key)},
          {"orderNumber", text_or_null(entry.order_number)},
          {"purchaseId", id_or_null(entry.purchase)},
          {"note", entry.note},
          {"balanceAfter", number_or_null(entry.balance_after)},
          {"cause", text_or_null(entry.cause)}};
}

services::Credits::LedgerFilter ledger_filter(QueryFields& query) {
  return {.kind = query.optional_choice("kind", domain::kLedgerEntryKindNames)
                      .and_then(domain::parse_ledger_entry_kind),
          .since = query.optional_time("createdFrom"),
          .before = query.optional_time("createdTo")};
}

Task<Reply> ledger(CreditsDeps deps, Call call) {
  QueryFields query(call);
  const auto page = query.page();
  auto filter = ledger_filter(query);
  if (auto error = query.problems()) co_return std::unexpected(std::move(*error));
  auto found = co_await deps.credits.ledger(call.executor(), call.principal, std::move(filter), page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, to_json);
}

constexpr std::array<std::string_view, 12> kColumns{"id",     "at",         "kind",    "credits",
                                                    "itemId", "purchaseId", "note",    "balanceAfter",
                                                    "cause",  "deliveryId", "orderId", "orderNumber"};
constexpr int kMostLines = 5'000;

void append_line(std::string& table, const storage::LedgerEntry& entry) {
  const auto credits = std::to_string(entry.credits);
  const auto balance = entry.balance_after ? std::to_string(*entry.balance_after) : std::string();
  const auto id = to_string(entry.id);
  const auto at = to_iso8601(entry.at);
  const auto item = entry.item ? to_string(entry.item) : std::string();
  const auto purchase = entry.purchase ? to_string(entry.purchase) : std::string();
  const auto note = guard_formula(entry.note);
  const auto delivery = entry.delivery ? to_string(entry.delivery) : std::string();
  const auto order = guard_formula(entry.order_key);
  const auto number = guard_formula(entry.order_number);
  append_csv(table, std::array<std::string_view, kColumns.size()>{id, at, to_string(entry.kind), credits,
                                                                  item, purchase, note, balance, entry.cause,
                                                                  delivery, order, number});
}

Task<Reply> export_ledger(CreditsDeps deps, Call call) {
  QueryFields query(call);
  auto page = query.page();
  page.limit = kMostLines;
  auto filter = ledger_filter(query);
  if (auto error = query.problems()) co_return std::unexpected(std::move(*error));
  const auto found = co_await deps.credits.ledger(call.executor(), call.principal, std::move(filter), page);
  if (!found) co_return std::unexpected(found.error());
  net::HttpResponse response;
  response.content_type = "text/csv; charset=utf-8";
  response.headers.add("Content-Disposition", "attachment; filename=\"ledger.csv\"");
  if (found->next) response.headers.add("X-Next-Cursor", cursor_text(*found->next));
  append_csv(response.body, kColumns);
  for (const auto& entry : found->rows) append_line(response.body, entry);
  co_return response;
}

}  // namespace

void add_credits_routes(Router& router, CreditsDeps deps) {
  const auto people = Access::needs(Permission::account);
  const auto owners = Access::needs(Permission::owner);
  router.add("GET", "/api/credits", people, with(deps, balance));
  router.add("PATCH", "/api/credits", owners, with(deps, change));
  router.add("GET", "/api/credits/ledger", people, with(deps, ledger));
  router.add("GET", "/api/credits/ledger.csv", people, with(deps, export_ledger));
}

}  // namespace presetbridge::api
