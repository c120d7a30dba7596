#include "api/credits_handlers.h"

#include <algorithm>
#include <array>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"

namespace presetbridge::api {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"grant",    "purchase",        "spend",
                                                    "reversal", "reversal_undone", "debt_paid"};

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
          {"lowThreshold", view.low_at.value_or(deps.usual_low_at)}};
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
    co_return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
                   {{"lowThreshold", "is required; null: as the service is set"}});
  }
  const auto changed = co_await deps.credits.set_low_at(call.executor(), call.principal, low_at);
  if (!changed) co_return std::unexpected(changed.error());
  co_return json_response(200, balance_json(deps, *changed));
}

json::object to_json(const storage::LedgerEntry& entry) {
  return {{"id", to_string(entry.id)},
          {"at", to_iso8601(entry.at)},
          {"kind", entry.kind},
          {"credits", entry.credits},
          {"itemId", id_or_null(entry.item)},
          {"purchaseId", id_or_null(entry.purchase)},
          {"note", entry.note}};
}

Task<Reply> ledger(CreditsDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  const auto asked = call.query_value("kind");
  if (asked && std::ranges::find(kKinds, *asked) == kKinds.end()) {
    co_return fail("VALIDATION_FAILED", "The query has parameters that are not valid.",
                   {{"kind", "is not a kind of ledger entry"}});
  }
  const std::string kind(asked.value_or(""));
  auto found = co_await deps.credits.ledger(call.executor(), call.principal, kind, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, to_json);
}

}  // namespace

void add_credits_routes(Router& router, CreditsDeps deps) {
  const auto people = Access::needs(Permission::account);
  router.add("GET", "/api/credits", people, with(deps, balance));
  router.add("PATCH", "/api/credits", people, with(deps, change));
  router.add("GET", "/api/credits/ledger", people, with(deps, ledger));
}

}  // namespace presetbridge::api
