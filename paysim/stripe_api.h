// Stripe's API over the simulated world, as far as a Checkout needs it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "calls.h"
#include "idempotency.h"
#include "net/http.h"
#include "stripe_error.h"
#include "world.h"

namespace presetbridge::paysim {

struct StripeApi {
  World& world;
  IdempotencyKeys& keys;
  std::string secret_key;                     // the only one that is taken; empty: any of test mode
  std::function<bool(const Event&)> pending;  // whether the event is yet to be taken by the endpoint
};

// Carries the call out. Refusals are answers of Stripe's shape.
net::HttpResponse answer(const StripeApi& api, const StripeCall& call, const net::HttpRequest& request,
                         Timestamp now);

net::HttpResponse error_answer(const StripeError& error);

// The request's own Idempotency-Key, of a POST; empty: none.
std::string idempotency_key_of(const net::HttpRequest& request);

}  // namespace presetbridge::paysim
