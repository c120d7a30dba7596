// POST /api/webhooks/{provider}/{integrationId}: the stores' way in (spec 2).
#pragma once

#include "api/router.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "net/network_budget.h"
#include "providers/parse.h"
#include "services/intake/intake.h"
#include "services/intake/integration_directory.h"
#include "services/intake/store_tally.h"
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
  bool store = true;                      // false: everything but storing, for the benchmark's comparison
  services::StoreTally* tally = nullptr;  // null: what stores send is not counted
};

enum class OrderFrom {
  store,
  merchant,  // who tries the store (spec 9.3): a dry run, of which no API key is asked, and nothing counted
};
// Takes in the order of a request for that route. `store`: the integration, once it is found.
Task<Reply> accept_order(const WebhookDeps& deps, const Call& call, OrderFrom from, IntegrationId& store);

void add_webhook_routes(Router& router, const WebhookDeps& deps);

}  // namespace presetbridge::api
