#include "api/handlers/buyer_handlers.h"

#include <array>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "domain/username.h"

namespace presetbridge::api {
namespace {

constexpr std::array<std::string_view, 3> kItemStates = {"on_its_way", "delivered", "taken_back"};

json::object to_json(const services::BuyerView& view, const PlatformWords& platform) {
  json::array items;
  for (const auto& item : view.items) {
    items.push_back(json::object{{"name", item.name},
                                 {"kind", item.kind},
                                 {"status", kItemStates[static_cast<std::size_t>(item.state)]}});
  }
  return {{"state", domain::to_string(view.state)},
          {"merchantName", view.merchant},
          {"supportEmail", text_or_null(view.support_email)},
          {"supportUrl", text_or_null(view.support_url)},
          {"orderNumber", text_or_null(view.order_number)},
          {"username", text_or_null(view.username)},
          {"senderUsername", text_or_null(view.sender)},
          {"requestedAt", time_or_null(view.requested_at)},
          {"startsAt", time_or_null(view.starts_at)},
          {"items", std::move(items)},
          {"dryRun", view.dry_run},
          {"canCorrect", view.can_correct},
          {"canRetry", view.can_retry},
          {"canActAt", time_or_null(view.can_act_at)},
          {"updatedAt", to_iso8601(view.updated_at)},
          {"cloud", json::object{{"name", text_or_null(platform.name)},
                                 {"friendRequestsUrl", text_or_null(platform.friend_requests_url)},
                                 {"appUrl", text_or_null(platform.app_url)}}}};
}

// Only the buyer's browser may store this answer.
net::HttpResponse answer(const BuyerDeps& deps, const services::BuyerView& view) {
  auto response = json_response(200, to_json(view, deps.platform));
  response.headers.add("Cache-Control", "no-store");
  return response;
}

// The link opens this delivery, unless the budget of the link or of the network is used up. The contract is
// asked then, since to judge a body costs more.
struct Opened {
  DeliveryId delivery;
  storage::DeliveryMark mark;
  std::optional<Reply> refusal = std::nullopt;  // what is answered instead
};
Task<Opened> open(BuyerDeps deps, Call& call) {
  if (const auto wait = deps.failures.wait(call.request); wait > Millis{0})
    co_return Opened{.refusal = too_often(wait)};
  const auto token = call.request.headers.get("x-buyer-token");
  auto found = co_await deps.buyers.open(call.executor(), std::string(token.value_or("")));
  if (!found) {
    if (found.error().code == "NOT_FOUND") deps.failures.count(call.request);
    co_return Opened{.refusal = Reply(std::unexpected(std::move(found.error())))};
  }
  auto key = to_string(found->id);
  if (const auto wait = deps.reads.wait(key); wait > Millis{0}) co_return Opened{.refusal = too_often(wait)};
  deps.reads.count(std::move(key));
  if (call.contract) {
    if (auto error = call.contract(call))
      co_return Opened{.refusal = Reply(std::unexpected(std::move(*error)))};
  }
  co_return Opened{.delivery = found->id, .mark = {found->version, found->link_version, found->updated_at}};
}

Task<Reply> show(BuyerDeps deps, Call call) {
  auto opened = co_await open(deps, call);
  if (opened.refusal) co_return std::move(*opened.refusal);
  auto view = co_await deps.buyers.view(call.executor(), opened.delivery);
  if (!view) co_return std::unexpected(view.error());
  co_return answer(deps, *view);
}

Task<Reply> correct(BuyerDeps deps, Call call) {
  auto opened = co_await open(deps, call);
  if (opened.refusal) co_return std::move(*opened.refusal);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto username = domain::normalise_username(fields.text("username", {.max = 1'000}));
  if (!body->problems() && username.empty()) fields.problem("username", "is not a username");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto view = co_await deps.buyers.correct(call.executor(), opened.delivery, username);
  if (!view) co_return login_failed(view.error());
  co_return answer(deps, *view);
}

Task<Reply> retry(BuyerDeps deps, Call call) {
  auto opened = co_await open(deps, call);
  if (opened.refusal) co_return std::move(*opened.refusal);
  auto view = co_await deps.buyers.retry(call.executor(), opened.delivery);
  if (!view) co_return login_failed(view.error());
  co_return answer(deps, *view);
}

Task<Reply> follow(BuyerDeps deps, Call call) {
  auto opened = co_await open(deps, call);
  if (opened.refusal) co_return std::move(*opened.refusal);
  auto slot = take_slot(deps.live.readers, deps.live.limits, call.request, to_string(opened.delivery));
  if (!slot) co_return no_slot();
  co_return event_stream(
      deps.live.changes.open(*call.request.executor, {.delivery = opened.delivery,
                                                      .now = opened.mark,
                                                      .last_event_id = last_event_id(call.request),
                                                      .slot = std::move(*slot)}));
}

}  // namespace

void add_buyer_routes(Router& router, const BuyerDeps& deps) {
  router.add("GET", "/api/buyer", Access::proven(), with(deps, show));
  router.add("GET", "/api/buyer/events", Access::proven(), with(deps, follow));
  router.add("POST", "/api/buyer/username", Access::proven(), with(deps, correct));
  router.add("POST", "/api/buyer/retry", Access::proven(), with(deps, retry));
}

}  // namespace presetbridge::api
