#include "api/api.h"

#include <exception>
#include <string>
#include <utility>

namespace presetbridge::api {

Task<net::HttpResponse> Api::handle(net::HttpRequest request) {
  const auto began = clock_.now();
  Trace trace{request.id, request.method};
  auto match = router_.match(request.method, request.path);
  std::string_view pattern = "none";
  net::HttpResponse response;
  if (!match) {
    response = std::move(match.error());
  } else {
    const Router::Route& route = *match->route;
    pattern = route.pattern;
    Call call;
    call.request = std::move(request);
    call.route = pattern;
    call.params = std::move(match->params);
    try {
      response = co_await answer(route, std::move(call), trace);
    } catch (const std::exception& thrown) {
      response = refuse(route, {"INTERNAL_ERROR", thrown.what(), {}}, trace);
    }
  }
  const auto status = std::to_string(response.status);
  metrics_.count("presetbridge_http_requests_total", {{"route", pattern}, {"status", status}});
  metrics_.observe("presetbridge_http_request_seconds",
                   static_cast<double>((clock_.now() - began).count()) / 1000, {{"route", pattern}});
  co_return response;
}

net::HttpResponse Api::refuse(const Router::Route& route, const Error& error, const Trace& trace) {
  if (is_fault(error)) {
    log_.error("a request failed", {{"request_id", trace.id},
                                    {"method", trace.method},
                                    {"route", route.pattern},
                                    {"account", trace.account ? to_string(trace.account) : std::string()},
                                    {"code", error.code},
                                    {"error", error.message}});
  }
  return error_response(error);
}

Task<net::HttpResponse> Api::answer(const Router::Route& route, Call call, Trace& trace) {
  // An open route judges its body's size itself, in the order that its own rules name (spec 2.3).
  if (route.access.is_open()) {
    if (const auto error = operations_.read(route, call)) co_return error_response(*error);
    auto reply = co_await route.handler(std::move(call));
    co_return reply ? std::move(*reply) : refuse(route, reply.error(), trace);
  }

  if (call.request.body_too_large) co_return error_response(payload_too_large(call.request));
  if (const auto wait = failures_.wait(call.request); wait > Millis{0}) co_return *too_often(wait);
  auto who = co_await authentication_.authenticate(call.request);
  if (!who) {
    // Without a token or key nothing was looked up.
    const bool tried = call.request.headers.has("Authorization") || call.request.headers.has("x-api-key");
    if (tried && who.error().error.code == "UNAUTHORIZED") failures_.count(call.request);
    auto response = refuse(route, who.error().error, trace);
    if (who.error().rate) add_rate_headers(response, *who.error().rate);
    co_return response;
  }
  trace.account = who->principal.account;
  const auto rate = who->rate;
  net::HttpResponse response;
  if (!route.access.allows(who->principal)) {
    const auto permission = route.access.permission();
    response = error_response(forbidden(
        permission == Permission::account
            ? std::string("This is for signed-in people: send an ID token, and no API key.")
            : "This needs the permission " +
                  std::string(identity::kPermissionNames[static_cast<std::size_t>(permission)]) + "."));
  } else if (const auto error = operations_.read(route, call)) {
    response = error_response(*error);
  } else {
    call.principal = std::move(who->principal);
    auto reply = co_await route.handler(std::move(call));
    response = reply ? std::move(*reply) : refuse(route, reply.error(), trace);
  }
  if (rate) add_rate_headers(response, *rate);
  co_return response;
}

}  // namespace presetbridge::api
