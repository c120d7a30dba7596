#include "api/api.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace presetbridge::api {
namespace {

constexpr Millis kRetryAfter{1'000};  // for an account whose slots are taken

}  // namespace

Task<net::HttpResponse> Api::handle(net::HttpRequest request) {
  const auto began = clock_.now();
  Trace trace{request.id, request.method};
  auto match = router_.match(request.method, request.path);
  std::string_view pattern = "none";
  net::HttpResponse response;
  if (!match) {
    auto file = web_ != nullptr && match.error().status == 404 ? web_->answer(request) : std::nullopt;
    if (file) pattern = "web";
    response = std::move(file ? *file : match.error());
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

void Api::require_contract() const {
  const auto differences = operations_.differences(router_);
  if (!differences.empty()) throw std::logic_error(differences.front());
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
    const auto contract = [this, &route](Call& it) { return operations_.read(route, it); };
    if (route.access.judges_itself()) {
      call.contract = contract;
    } else if (const auto error = contract(call)) {
      co_return error_response(*error);
    }
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
    if (who.error().retry_after) co_return *too_often(*who.error().retry_after);
    auto response = refuse(route, who.error().error, trace);
    if (who.error().rate) add_rate_headers(response, *who.error().rate);
    co_return response;
  }
  trace.account = who->principal.account;
  // A key has its hour, and a request that is refused here would count in it.
  const bool limited = !who->rate && !route.access.limits_itself();
  const auto slot =
      limited ? under_way_.take({{to_string(trace.account), kMostRequestsOfAccount}}) : std::nullopt;
  if (limited && !slot) co_return *too_often(kRetryAfter);
  const auto rate = who->rate;
  net::HttpResponse response;
  if (!route.access.allows(who->principal)) {
    const auto permission = route.access.permission();
    response = error_response(forbidden(
        permission == Permission::account ||
                (permission == Permission::owner && !who->principal.may(Permission::account))
            ? std::string("This is for signed-in people: send an ID token, and no API key.")
        : permission == Permission::owner
            ? std::string("This is for owners of the account.")
            : "This needs the permission " +
                  std::string(identity::kPermissionNames[static_cast<std::size_t>(permission)]) + "."));
  } else if (route.access.asks_step_up() && !who->principal.signed_in_lately(clock_.now())) {
    response = error_response(identity::Principal::step_up_required());
  } else if (const auto error = operations_.read(route, call)) {
    response = error_response(*error);
  } else {
    call.principal = std::move(who->principal);
    call.principal.origin = {failures_.network_of(call.request), call.request.id};
    auto reply = co_await route.handler(std::move(call));
    response = reply ? std::move(*reply) : refuse(route, reply.error(), trace);
  }
  if (rate) add_rate_headers(response, *rate);
  co_return response;
}

}  // namespace presetbridge::api
