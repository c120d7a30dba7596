#include "payments/stripe.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/percent.h"
#include "payments/stripe_reading.h"

namespace presetbridge::payments {
namespace {

using Kind = ProcessorError::Kind;

constexpr std::size_t kLongestAnswer = 256 * 1024;
constexpr std::size_t kLongestList = 4 * 1024 * 1024;
constexpr int kNoticesAtOnce = 50;

// The events that move money or end a page.
constexpr std::array<std::string_view, 13> kEventTypes{
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "charge.refunded",
    "charge.refund.updated",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.closed",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
};

std::unexpected<ProcessorError> failed(Kind kind, std::string message) {
  return std::unexpected(ProcessorError{kind, std::move(message)});
}
std::unexpected<ProcessorError> malformed() {
  return failed(Kind::malformed, "The payment processor gave an answer that could not be understood.");
}

class Form {
 public:
  Form& add(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += '&';
    text_.append(percent_encoded(name)).append("=").append(percent_encoded(value));
    return *this;
  }
  Form& add(std::string_view name, std::int64_t value) { return add(name, std::to_string(value)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Whether a browser may be sent to the URL: never another scheme, and no plain HTTP where the API itself is
// reached by HTTPS.
bool is_page_url(std::string_view url, std::string_view base_url) {
  return url.starts_with("https://") || (base_url.starts_with("http://") && url.starts_with("http://"));
}

std::int64_t seconds(Timestamp at) {
  return to_unix_ms(at) / 1'000;
}

ProcessorError error_of(const net::HttpFailure& failure) {
  using Failure = net::HttpFailure::Kind;
  if (failure.kind == Failure::invalid) return {Kind::refused, "The call could not be sent."};
  return {Kind::unavailable, failure.kind == Failure::timeout
                                 ? "The payment processor did not answer in time."
                                 : "The payment processor could not be reached."};
}

ProcessorError error_of(const net::HttpAnswer& answer, std::string_view secret) {
  const int status = answer.status;
  // 409: the same request is being served at this moment.
  if (status == 409 || status == 429 || (status >= 500 && status <= 599))
    return {Kind::unavailable, "The payment processor is not available."};
  if (status == 401 || status == 403)
    return {Kind::refused, "The payment processor does not accept the service's key for this."};
  const auto message = status >= 400 && status < 500 ? read_stripe_error(answer.body) : std::string();
  if (message.empty()) return malformed().error();
  if (message.find(secret) != std::string::npos) return {Kind::refused, "The payment processor refused."};
  return {Kind::refused, "The payment processor refused: " + message};
}

}  // namespace

bool is_stripe_key(std::string_view key) {
  constexpr std::size_t kShortest = 12;
  constexpr std::size_t kLongest = 255;
  const bool named = key.starts_with("sk_test_") || key.starts_with("rk_test_") || is_live_stripe_key(key);
  return named && key.size() >= kShortest && key.size() <= kLongest &&
         std::ranges::all_of(key, [](char c) { return is_alphanumeric(c) || c == '_'; });
}
bool is_live_stripe_key(std::string_view key) {
  return key.starts_with("sk_live_") || key.starts_with("rk_live_");
}

struct Stripe::Call {
  const char* method = "GET";
  std::string target{};  // path and query below the base URL
  std::string form{};
  std::string idempotency_key{};
  std::size_t max_bytes = kLongestAnswer;
};

Stripe::Stripe(net::HttpClient& http, crypto::SecretString key, StripeOptions options)
    : http_(http),
      key_(std::move(key)),
      live_(is_live_stripe_key(key_.reveal())),
      options_(std::move(options)) {}

Task<ProcessorResult<std::string>> Stripe::send(Executor& executor, Call call) {
  net::OutgoingRequest request;
  request.method = call.method;
  request.url = options_.base_url + call.target;
  request.headers.emplace_back("Authorization", "Bearer " + std::string(key_.reveal()));
  request.headers.emplace_back("Stripe-Version", kStripeVersion);
  request.headers.emplace_back("Accept", "application/json");
  if (!call.form.empty()) request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  if (!call.idempotency_key.empty()) request.headers.emplace_back("Idempotency-Key", call.idempotency_key);
  request.body = std::move(call.form);
  request.policy = net::AddressPolicy::configured;
  request.deadline = options_.timeout;
  request.max_answer_bytes = call.max_bytes;
  net::HttpResult result = co_await http_.send(executor, std::move(request));
  if (const auto* failure = result.failure()) co_return std::unexpected(error_of(*failure));
  auto& answer = std::get<net::HttpAnswer>(result.outcome);
  if (answer.status != 200) co_return std::unexpected(error_of(answer, key_.reveal()));
  if (answer.truncated) co_return malformed();
  co_return std::move(answer.body);
}

Task<ProcessorResult<Checkout>> Stripe::open_checkout(Executor& executor, NewCheckout wanted) {
  Form form;
  form.add("mode", "payment")
      .add("client_reference_id", wanted.purchase)
      .add("line_items[0][quantity]", "1")
      .add("line_items[0][price_data][currency]", wanted.currency)
      .add("line_items[0][price_data][unit_amount]", wanted.amount)
      .add("line_items[0][price_data][product_data][name]", wanted.name)
      .add("metadata[purchase]", wanted.purchase)
      .add("metadata[account]", wanted.account)
      .add("payment_intent_data[metadata][purchase]", wanted.purchase)
      .add("payment_intent_data[metadata][account]", wanted.account)
      // Else the dashboard could have the buyer pay in another currency.
      .add("adaptive_pricing[enabled]", "false")
      .add("expires_at", seconds(wanted.expires_at))
      .add("success_url", wanted.return_url)
      .add("cancel_url", wanted.cancel_url);
  auto body = co_await send(executor, {.method = "POST",
                                       .target = "/v1/checkout/sessions",
                                       .form = form.take(),
                                       .idempotency_key = wanted.purchase});
  if (!body) co_return std::unexpected(body.error());
  auto session = read_stripe_session(*body);
  if (!session || !is_page_url(session->url, options_.base_url) || session->reference != wanted.purchase)
    co_return malformed();
  co_return Checkout{std::move(session->id), std::move(session->url)};
}

Task<ProcessorResult<Payment>> Stripe::look_up(Executor& executor, std::string session) {
  const auto body = co_await send(executor, {.target = "/v1/checkout/sessions/" + percent_encoded(session)});
  if (!body) co_return std::unexpected(body.error());
  auto found = read_stripe_session(*body);
  if (!found || found->id != session) co_return malformed();
  Payment payment{.session = std::move(found->id),
                  .payment = found->payment,
                  .receipt_url = {},
                  .facts = {.page = found->page,
                            .paid = found->paid,
                            .purchase = std::move(found->reference),
                            .account = std::move(found->account),
                            .amount = found->amount,
                            .currency = std::move(found->currency),
                            .live = found->live}};
  if (found->page != domain::PaymentFacts::Page::complete || payment.payment.empty())
    co_return std::move(payment);
  const auto intent_body =
      co_await send(executor, {.target = "/v1/payment_intents/" + percent_encoded(payment.payment)});
  if (!intent_body) co_return std::unexpected(intent_body.error());
  const auto intent = read_stripe_payment(*intent_body);
  if (!intent || intent->id != payment.payment) co_return malformed();
  payment.facts.payment_failed = intent->failed && !payment.facts.paid;
  if (!payment.facts.paid || intent->charge.empty()) co_return std::move(payment);
  if (auto added = co_await add_charge(executor, intent->charge, payment); !added)
    co_return std::unexpected(added.error());
  co_return std::move(payment);
}

Task<ProcessorResult<void>> Stripe::add_charge(Executor& executor, std::string id, Payment& to) {
  const auto body = co_await send(executor, {.target = "/v1/charges/" + percent_encoded(id)});
  if (!body) co_return std::unexpected(body.error());
  auto charge = read_stripe_charge(*body);
  if (!charge || charge->id != id || charge->currency != to.facts.currency) co_return malformed();
  if (is_page_url(charge->receipt_url, options_.base_url)) to.receipt_url = std::move(charge->receipt_url);
  to.facts.refunded = charge->refunded;
  if (!charge->disputed) co_return ProcessorResult<void>();
  const auto list = co_await send(
      executor, {.target = "/v1/disputes?limit=100&payment_intent=" + percent_encoded(to.payment),
                 .max_bytes = kLongestList});
  if (!list) co_return std::unexpected(list.error());
  const auto disputes = read_stripe_disputes(*list);
  if (!disputes) co_return malformed();
  for (const auto& dispute : *disputes) {
    // One in the buyer's own currency takes all that it can.
    if (dispute.amount > 0)
      to.facts.disputed +=
          dispute.currency == to.facts.currency ? std::min(dispute.amount, to.facts.amount) : to.facts.amount;
  }
  co_return ProcessorResult<void>();
}

Task<ProcessorResult<Refund>> Stripe::refund(Executor& executor, std::string payment, std::int64_t amount,
                                             std::string key) {
  Form form;
  form.add("payment_intent", payment).add("amount", amount).add("metadata[key]", key);
  const auto body = co_await send(
      executor,
      {.method = "POST", .target = "/v1/refunds", .form = form.take(), .idempotency_key = std::move(key)});
  if (!body) co_return std::unexpected(body.error());
  auto made = read_stripe_refund(*body);
  if (!made || made->refund.amount != amount) co_return malformed();
  co_return std::move(made->refund);
}

Task<ProcessorResult<std::optional<Refund>>> Stripe::made_refund(Executor& executor, std::string payment,
                                                                 std::string key) {
  const auto list =
      co_await send(executor, {.target = "/v1/refunds?limit=100&payment_intent=" + percent_encoded(payment),
                               .max_bytes = kLongestList});
  if (!list) co_return std::unexpected(list.error());
  auto refunds = read_stripe_refunds(*list);
  if (!refunds) co_return malformed();
  const auto made = std::ranges::find(*refunds, key, &StripeRefund::key);
  if (made == refunds->end()) co_return std::optional<Refund>();
  co_return std::optional(std::move(made->refund));
}

Task<ProcessorResult<NoticePage>> Stripe::notices(Executor& executor, Timestamp since, Timestamp until,
                                                  std::string after) {
  Form query;
  query.add("limit", kNoticesAtOnce).add("created[gte]", seconds(since)).add("created[lt]", seconds(until));
  for (const auto type : kEventTypes) query.add("types[]", type);
  if (!after.empty()) query.add("starting_after", after);
  const auto body =
      co_await send(executor, {.target = "/v1/events?" + query.take(), .max_bytes = kLongestList});
  if (!body) co_return std::unexpected(body.error());
  auto page = read_stripe_events(*body);
  // A page that does not move would be read for ever.
  if (!page || (page->more && page->last == after)) co_return malformed();
  co_return std::move(*page);
}

}  // namespace presetbridge::payments
