// Stripe's API as the payment processor (spec 11.3): Checkout Sessions on the hosted page, refunds, disputes
// and events, of one pinned version of the API.
//
// Every answer of Stripe is checked: one that does not fit the API is `malformed`. look_up() of a page makes
// up to four calls (session, payment intent, charge, disputes), the later ones only if they can have data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crypto/secret.h"
#include "net/http_client.h"
#include "payments/processor.h"

namespace presetbridge::payments {

inline constexpr std::string_view kStripeUrl = "https://api.stripe.com";
inline constexpr std::string_view kStripeVersion = "2026-10-28.endive";

// A key names its mode after sk_ or rk_: test or live.
bool is_stripe_key(std::string_view key);
bool is_live_stripe_key(std::string_view key);

struct StripeOptions {
  std::string base_url{kStripeUrl};  // without a slash at its end
  Millis timeout{10'000};            // of one call
};

class Stripe final : public Processor {
 public:
  // `http` outlives this. is_stripe_key() is true of `key`.
  Stripe(net::HttpClient& http, crypto::SecretString key, StripeOptions options);

  bool live() const override { return live_; }
  Task<ProcessorResult<Checkout>> open_checkout(Executor& executor, NewCheckout wanted) override;
  Task<ProcessorResult<Payment>> look_up(Executor& executor, std::string session) override;
  Task<ProcessorResult<Refund>> refund(Executor& executor, std::string payment, std::int64_t amount,
                                       std::string key) override;
  Task<ProcessorResult<std::optional<Refund>>> made_refund(Executor& executor, std::string payment,
                                                           std::string key) override;
  Task<ProcessorResult<NoticePage>> notices(Executor& executor, Timestamp since, Timestamp until,
                                            std::string after) override;

 private:
  struct Call;
  Task<ProcessorResult<std::string>> send(Executor& executor, Call call);
  Task<ProcessorResult<void>> add_charge(Executor& executor, std::string id, Payment& to);

  net::HttpClient& http_;
  const crypto::SecretString key_;
  const bool live_;
  const StripeOptions options_;
};

}  // namespace presetbridge::payments
