// POST /api/payments/webhook: the payment processor reports an event of a payment (spec 11.3).
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
  net::NetworkBudget& failures;  // of notices that nobody signed
};
// The referenced objects outlive the routes.
void add_payment_webhook_routes(Router& router, const PaymentWebhookDeps& deps);

}  // namespace presetbridge::api
