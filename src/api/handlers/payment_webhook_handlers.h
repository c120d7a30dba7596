// POST /api/payments/webhook: the payment processor's notices of events (spec 11.3).
#pragma once

#include <vector>

#include "api/router.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "crypto/secret.h"
#include "net/network_budget.h"
#include "services/payments/purchases.h"

namespace presetbridge::api {

struct PaymentWebhookDeps {
  services::Purchases& purchases;
  const std::vector<crypto::SecretString>& secrets;  // of the endpoint; none: all is refused
  bool live = false;                                 // the mode that notices have to be of
  const Clock& clock;
  Metrics& metrics;
  // Counts notices without a valid signature. Their network's other requests are refused for them; no notice is.
  net::NetworkBudget& failures;
};
// The referenced objects outlive the routes.
void add_payment_webhook_routes(Router& router, const PaymentWebhookDeps& deps);

}  // namespace presetbridge::api
