#include "app/service/payment_parts.h"

#include <chrono>
#include <utility>

#include "api/handlers/payment_webhook_handlers.h"
#include "api/handlers/purchases_handlers.h"

namespace presetbridge::app {
namespace {

constexpr int kCalls = 16;

std::vector<domain::CreditPack> packs_of(const Config& config) {
  std::vector<domain::CreditPack> packs;
  for (const auto& text : config.credits_packs) packs.push_back(domain::parse_credit_pack(text).value());
  return packs;
}

}  // namespace

PaymentParts::Selling::Selling(const Config& config, PaymentKeys keys, const Ports& ports)
    : webhook_secrets(std::move(keys.webhook)),
      http(ports.runtime, ports.core, ports.resolver, {.calls = kCalls, .calls_per_host = kCalls}),
      processor(http, std::move(keys.api),
                {.base_url = config.payments_url,
                 .timeout = std::chrono::seconds(config.payments_timeout_seconds)}),
      settlement(ports.async_db, ports.changes, processor, ports.log, ports.work_came),
      reconciliation({ports.runtime.scheduler(ports.core), ports.clock, ports.async_db, settlement, ports.log,
                      ports.metrics, ports.node}) {}

PaymentParts::PaymentParts(const Config& config, std::optional<PaymentKeys> keys, Ports ports,
                           std::function<std::string()> base_url)
    : config_(config),
      ports_(std::move(ports)),
      base_url_(std::move(base_url)),
      checkouts_(ports_.clock, {.times = 30, .window = std::chrono::minutes{10}}),
      refreshes_(ports_.clock, {.times = 60, .window = std::chrono::minutes{1}}),
      admin_(ports_.async_db, ports_.changes.ids()) {
  if (!keys) return;
  if (keys->webhook.empty())
    ports_.log.warn(
        "there is no payments.webhook: webhooks of the payment processor are refused, and payments are found "
        "by asking it");
  selling_.emplace(config_, std::move(*keys), ports_);
  admin_.sell_with(selling_->settlement, [this] { selling_->reconciliation.wake(); });
}

void PaymentParts::add_routes(api::Router& router) {
  purchases_.emplace(
      ports_.async_db, ports_.changes.ids(), selling_ ? &selling_->settlement : nullptr,
      services::PurchaseOptions{.packs = selling_ ? packs_of(config_) : std::vector<domain::CreditPack>(),
                                .base_url = base_url_()});
  api::add_purchases_routes(router, {*purchases_, checkouts_, refreshes_});
  api::add_payment_webhook_routes(
      router, {*purchases_, selling_ ? selling_->webhook_secrets : no_secrets_,
               selling_ && selling_->processor.live(), ports_.clock, ports_.metrics, ports_.failures});
}

void PaymentParts::start() {
  for (const auto& pack : purchases_ ? purchases_->packs() : std::vector<domain::CreditPack>()) {
    for (const auto* kind : {"paid", "taken_back", "given_back"})
      ports_.metrics.count("presetbridge_payments_money_total", {{"currency", pack.currency}, {"kind", kind}},
                           0);
  }
  if (selling_) selling_->reconciliation.start();
}

void PaymentParts::stop(Callback stopped) {
  if (!selling_) return stopped();
  selling_->reconciliation.stop(std::move(stopped));
}

void PaymentParts::cut_off() {
  if (selling_) selling_->http.stop();
}

}  // namespace presetbridge::app
