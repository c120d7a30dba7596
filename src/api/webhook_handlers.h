// POST /api/webhooks/{provider}/{integrationId}: the stores' way in (spec 2).
#pragma once

#include "api/router.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "net/network_budget.h"
#include "providers/parse.h"
#include "services/intake/intake.h"
#include "services/intake/integration_directory.h"
#include "storage/group_commit.h"

namespace presetbridge::api {

struct WebhookDeps {
  services::IntegrationDirectory& integrations;
  services::Intake& intake;
  storage::GroupCommit& commits;
  const Clock& clock;
  Metrics& metrics;
  net::NetworkBudget& failures;  // of orders for no store, or with a signature or key that is not valid
  providers::ParseLimits limits;
  bool store = true;  // false: everything but storing, for the benchmark's comparison
};
void add_webhook_routes(Router& router, const WebhookDeps& deps);

}  // namespace presetbridge::api
