#include "api/handlers/meta_handlers.h"

#include <memory>
#include <utility>

#include "api/compressed_text.h"
#include "api/openapi_document.h"

namespace presetbridge::api {
namespace {

net::HttpResponse text_response(std::string content_type, std::string body) {
  net::HttpResponse response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

Task<Reply> version(AboutDeps deps, Call) {
  co_return json_response(200, json::object{{"name", "Preset Delivery Bridge"},
                                            {"version", deps.version},
                                            {"commit", deps.commit},
                                            {"sandbox", deps.sandbox}});
}

Task<Reply> openapi(std::shared_ptr<const CompressedText> document, Call call) {
  auto response = document->answer(call.request);
  response.headers.add("Cache-Control", "public, max-age=300");
  co_return response;
}

// A process that answers this is alive.
Task<Reply> alive(HealthDeps, Call) {
  co_return json_response(200, json::object{{"status", "ok"}});
}

Task<Reply> ready(HealthDeps deps, Call call) {
  const auto readiness = co_await deps.readiness(call.executor());
  json::array waiting_for;
  for (const auto& part : readiness.waiting_for) waiting_for.emplace_back(part);
  co_return json_response(readiness.ready ? 200 : 503,
                          json::object{{"status", readiness.ready ? "ready" : "not_ready"},
                                       {"waitingFor", std::move(waiting_for)}});
}

Task<Reply> metrics(HealthDeps deps, Call) {
  if (!deps.metrics_text) co_return std::unexpected(not_found("path"));
  co_return text_response("text/plain; version=0.0.4; charset=utf-8", deps.metrics_text());
}

}  // namespace

void add_health_routes(Router& router, HealthDeps deps) {
  router.add("GET", "/healthz", Access::open(), with(deps, alive));
  router.add("GET", "/readyz", Access::open(), with(deps, ready));
  router.add("GET", "/metrics", Access::open(), with(deps, metrics));
}

void add_about_routes(Router& router, AboutDeps deps) {
  router.add("GET", "/api/version", Access::open(), with(deps, version));
  router.add("GET", "/api/openapi.json", Access::open(),
             with(std::make_shared<const CompressedText>("application/json", std::string(openapi_document)),
                  openapi));
}

}  // namespace presetbridge::api
