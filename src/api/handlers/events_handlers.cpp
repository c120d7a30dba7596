#include "api/handlers/events_handlers.h"

#include <utility>

#include "identity/token_verifier.h"

namespace presetbridge::api {
namespace {

constexpr Millis kRetryAfter{5'000};

Task<Reply> follow(EventsDeps deps, Call call) {
  const auto account = call.principal.account;
  auto slot = take_slot(deps.readers, deps.limits, call.request, to_string(account));
  if (!slot) co_return no_slot();
  // The stream ends when the token would no longer be accepted.
  const auto until = call.principal.person->expires_at + identity::TokenVerifier::leeway;
  auto stream =
      co_await deps.changes.open(*call.request.executor, {.account = account,
                                                          .last_event_id = last_event_id(call.request),
                                                          .until = until,
                                                          .slot = std::move(*slot)});
  if (!stream) co_return std::unexpected(stream.error());
  co_return event_stream(std::move(*stream));
}

}  // namespace

std::optional<SharedSlots::Slot> take_slot(SharedSlots& budget, const ReaderLimits& limits,
                                           const net::HttpRequest& request, std::string one) {
  std::vector<SharedSlots::Share> shares{{std::move(one), limits.of_one}};
  auto caller = net::caller_of(request, limits.proxies);
  if (!caller.for_others) shares.push_back({std::move(caller.network), limits.of_network});
  return budget.take(shares);
}

Reply no_slot() {
  return too_often(kRetryAfter);
}

net::HttpResponse event_stream(std::shared_ptr<net::BodyStream> stream) {
  net::HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.add("Cache-Control", "no-store");
  response.headers.add("X-Accel-Buffering", "no");  // proxies that buffer answers would delay the events
  response.stream = std::move(stream);
  return response;
}

std::string last_event_id(const net::HttpRequest& request) {
  return std::string(request.headers.get("Last-Event-ID").value_or(""));
}

void add_events_routes(Router& router, const EventsDeps& deps) {
  router.add("GET", "/api/events", Access::needs(Permission::account).with_own_limit(), with(deps, follow));
}

}  // namespace presetbridge::api
