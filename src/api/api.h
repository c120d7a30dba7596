// The HTTP API: routes, authentication, errors. Made in app/ from the routes that the add_xyz_routes
// functions added (router.h says how).
#pragma once

#include <limits>
#include <string>

#include "api/authentication.h"
#include "api/openapi_document.h"
#include "api/operations.h"
#include "api/router.h"
#include "api/web_files.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/shared_slots.h"
#include "net/http.h"
#include "net/network_budget.h"

namespace presetbridge::api {

// Requests of the people of one account that a node answers at one time (spec 8.6). API keys have their own limit.
inline constexpr int kMostRequestsOfAccount = 32;

// For each request: match (404, 405) -> body within the limit (413) -> budget of the caller's
// network (429) -> authenticate (401, 403, 429) -> slots of its people (429) -> permission, step-up (403) ->
// what the contract says of query and body (422) -> handler. An open route comes after the match to the
// contract and the handler, or to the handler alone (Access::proven). Every answer enters the metrics by route
// pattern; faults of the service are logged, with the request's id, method, route pattern and account (spec 8.1,
// 12.3).
class Api final : public net::HttpHandler {
 public:
  // `router` is complete; everything outlives this. `failures`: of requests whose token or key is not valid.
  // `web`: what answers where no route does; null: nothing.
  Api(const Router& router, Authentication& authentication, net::NetworkBudget& failures, const Clock& clock,
      Log& log, Metrics& metrics, const WebFiles* web = nullptr)
      : router_(router),
        authentication_(authentication),
        failures_(failures),
        clock_(clock),
        log_(log),
        metrics_(metrics),
        web_(web) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override;
  // std::logic_error where the router does not have exactly what the contract has.
  void require_contract() const;

 private:
  // The data of a request that is logged beside its route. Outlives the answering.
  struct Trace {
    std::string id;
    std::string method;
    AccountId account{};  // none: not known, or of nobody
  };
  Task<net::HttpResponse> answer(const Router::Route& route, Call call, Trace& trace);
  net::HttpResponse refuse(const Router::Route& route, const Error& error, const Trace& trace);

  const Router& router_;
  Authentication& authentication_;
  net::NetworkBudget& failures_;
  const Operations operations_{openapi_document};
  const Clock& clock_;
  Log& log_;
  Metrics& metrics_;
  const WebFiles* web_;
  SharedSlots under_way_{std::numeric_limits<int>::max()};  // requests of accounts
};

}  // namespace presetbridge::api
