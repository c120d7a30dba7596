// The service's own state: GET /api/version, /api/openapi.json, /healthz, /readyz, /metrics
// (spec 8.3, 8.4, 12.3). All open; /metrics is kept from the public by the proxy in front, or by leaving its
// function empty (404).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/router.h"

namespace presetbridge::api {

struct Readiness {
  bool ready = false;
  std::vector<std::string> waiting_for;  // what is not ready, in words fit for anyone
};

// Of any node, whatever its roles.
struct HealthDeps {
  std::function<Task<Readiness>(Executor&)> readiness;
  std::function<std::string()> metrics_text;  // Prometheus' text format; empty function: 404
};
void add_health_routes(Router& router, HealthDeps deps);

struct AboutDeps {
  std::string version;
  std::string commit;
  bool sandbox = false;  // spec 12.2: said wherever a person meets it
};
void add_about_routes(Router& router, AboutDeps deps);

}  // namespace presetbridge::api
