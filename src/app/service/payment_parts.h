// These parts joins the parts of the service that sell credits (spec 11.2, 11.3): the processor, payment
// pages, webhooks, reconciliation, and what the operator does about them. Without a key of the processor
// nothing is sold.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/router.h"
#include "app/admin/purchase_admin.h"
#include "app/config/config.h"
#include "app/config/payment_keys.h"
#include "net/curl_client.h"
#include "net/key_budget.h"
#include "net/network_budget.h"
#include "payments/stripe.h"
#include "services/payments/purchases.h"
#include "services/payments/reconciliation.h"

namespace presetbridge::app {

class PaymentParts {
 public:
  struct Ports {
    storage::AsyncDatabase& async_db;
    services::DeliveryChanges& changes;
    net::Runtime& runtime;
    int core = 0;  // of the calls to the processor, and of reconciliation
    net::Resolver& resolver;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
    net::NetworkBudget& failures;
    std::string node;
    std::function<void()> work_came;
  };
  // All that the ports and `config` refer to outlives this. `base_url`: the service's own, once it listens.
  PaymentParts(const Config& config, std::optional<PaymentKeys> keys, Ports ports,
               std::function<std::string()> base_url);

  void add_routes(api::Router& router);
  // On the core, as stop().
  void start();
  void stop(Callback stopped);
  // Ends the calls to the processor; not on a core.
  void cut_off();

  PurchaseAdmin& admin() { return admin_; }

 private:
  struct Selling {
    Selling(const Config& config, PaymentKeys keys, const Ports& ports);
    const std::vector<crypto::SecretString> webhook_secrets;
    net::CurlClient http;
    payments::Stripe processor;
    services::Settlement settlement;
    services::Reconciliation reconciliation;
  };

  const Config& config_;
  const Ports ports_;
  const std::function<std::string()> base_url_;
  std::optional<Selling> selling_;
  std::optional<services::Purchases> purchases_;
  const std::vector<crypto::SecretString> no_secrets_;
  // Of one account: more than a person does.
  net::KeyBudget checkouts_;
  net::KeyBudget refreshes_;
  PurchaseAdmin admin_;
};

}  // namespace presetbridge::app
