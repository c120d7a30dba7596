#include "api/handlers/payment_webhook_handlers.h"

#include "payments/stripe_reading.h"
#include "payments/stripe_signature.h"

namespace presetbridge::api {
namespace {

using payments::StripeVerdict;

Reply refused(const PaymentWebhookDeps& deps, std::string_view reason, const char* code,
              const char* message) {
  deps.metrics.count("presetbridge_payment_webhooks_refused_total", {{"reason", reason}});
  return fail(code, message);
}

Task<Reply> take_in(PaymentWebhookDeps deps, Call call) {
  const auto& request = call.request;
  if (request.body_too_large) co_return std::unexpected(payload_too_large(request));
  const auto signature = request.headers.get("stripe-signature").value_or("");
  const auto verdict = payments::verify_stripe(signature, request.body, deps.secrets, deps.clock.now());
  if (verdict != StripeVerdict::valid) {
    deps.failures.count(request);
    const bool untimely = verdict == StripeVerdict::stale || verdict == StripeVerdict::in_future;
    co_return refused(deps, untimely ? "time" : "signature", "INVALID_SIGNATURE",
                      untimely ? "The signature is too old, or of the future."
                               : "The Stripe-Signature header does not match the body.");
  }
  auto event = payments::read_stripe_event(request.body);
  if (!event) co_return refused(deps, "payload", "INVALID_PAYLOAD", "The body is not an event.");
  if (event->live != deps.live)
    co_return refused(deps, "mode", "INVALID_PAYLOAD",
                      "The event is of another mode than the service's key.");
  auto done = co_await deps.purchases.noticed(call.executor(), std::move(*event));
  if (!done) co_return std::unexpected(done.error());
  co_return json_response(200, {{"received", true}});
}

}  // namespace

void add_payment_webhook_routes(Router& router, const PaymentWebhookDeps& deps) {
  router.add("POST", "/api/payments/webhook", Access::open(), with(deps, take_in));
}

}  // namespace presetbridge::api
