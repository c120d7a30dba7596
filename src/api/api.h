// The HTTP API: routes, authentication, errors. Made in app/ from the routes that the add_xyz_routes
// functions added (router.h says how).
#pragma once

#include "api/authentication.h"
#include "api/router.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "net/http.h"

namespace presetbridge::api {

// For each request: match (404, 405) -> body within the limit (413) -> authenticate (401, 403, 429) ->
// permission (403)
// -> handler. What a handler answers with is told to metrics by route pattern.
class Api final : public net::HttpHandler {
 public:
  // `router` is complete; everything outlives this.
  Api(const Router& router, Authentication& authentication, const Clock& clock, Metrics& metrics)
      : router_(router), authentication_(authentication), clock_(clock), metrics_(metrics) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

 private:
  Task<net::HttpResponse> answer(const Router::Route& route, Call call);

  const Router& router_;
  Authentication& authentication_;
  const Clock& clock_;
  Metrics& metrics_;
};

}  // namespace presetbridge::api
