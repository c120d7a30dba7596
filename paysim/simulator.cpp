#include "simulator.h"

#include <algorithm>
#include <utility>

#include "crypto/encoding.h"
#include "pages.h"
#include "sim_api.h"
#include "stripe_api.h"

namespace presetbridge::paysim {
namespace {

constexpr Millis kLongestSleep{60'000};

net::HttpResponse dropped() {
  net::HttpResponse response;
  response.drop_connection = true;
  return response;
}

net::HttpResponse failed(int status, const char* message) {
  return error_answer({status, "api_error", "", message});
}

// What is left of an answer after a fault that comes behind the effect.
net::HttpResponse spoiled(Fault fault, net::HttpResponse response) {
  switch (fault) {
    case Fault::drop_after:
      return dropped();
    case Fault::server_error_after:
      return failed(500, "Simulated fault after the effect.");
    case Fault::malformed:
      response.body = R"({"id":"simulated fault, br)";
      return response;
    case Fault::wrong:
      response.body = R"({"id":17,"object":"simulated fault","data":{},"status":null,"amount_total":"1"})";
      return response;
    default:
      return response;
  }
}

}  // namespace

Simulator::Simulator(Scheduler& scheduler, const Clock& clock, Random& random, net::HttpClient& http,
                     Log& log, SimulatorOptions options)
    : scheduler_(scheduler),
      clock_(clock),
      random_(random),
      options_(std::move(options)),
      webhooks_(scheduler, clock, http, log, options_.seed, options_.webhooks),
      tasks_(scheduler, {log, "the simulator failed"}) {
  reset();
  tasks_.start_loop(run(), "expiry");
}

void Simulator::set_page_url(std::string url) {
  page_url_ = std::move(url);
  world_->set_page_url(page_url_);
}

void Simulator::reset() {
  world_ = std::make_unique<World>(random_, options_.api_version);
  world_->set_page_url(page_url_);
  keys_ = std::make_unique<IdempotencyKeys>();
  faults_ = std::make_unique<FaultPlan>(options_.seed);
  keys_in_use_.clear();
  counts_ = {};
  shift_ = Millis{0};
  webhooks_.clear();
  webhooks_.configure(options_.webhooks);
}

void Simulator::stop(Callback stopped) {
  tasks_.stop([this, stopped = std::move(stopped)]() mutable { webhooks_.stop(std::move(stopped)); });
  for (auto* delay : delays_) delay->notify();
}

Task<void> Simulator::pass(Millis time) {
  if (time <= Millis{0} || tasks_.stopping()) co_return;
  Wakeup end(scheduler_);
  delays_.insert(&end);
  co_await end.wait(time);
  delays_.erase(&end);
}

// Sends what has happened.
void Simulator::publish() {
  for (const auto& event : world_->take_new_events()) webhooks_.send(event);
  tasks_.wake();
}

// Sessions expire by themselves.
Task<void> Simulator::run() {
  while (!tasks_.stopping()) {
    world_->settle(now());
    for (const auto& event : world_->take_new_events()) webhooks_.send(event);
    const Timestamp next =
        std::min(world_->next_due().value_or(now() + kLongestSleep), now() + kLongestSleep);
    co_await tasks_.wait(std::max(next - now(), Millis{0}));
  }
}

Task<net::HttpResponse> Simulator::handle(net::HttpRequest request) {
  net::HttpResponse response;
  if (request.body_too_large) {
    response = error_answer(StripeError(413, "invalid_request_error", "", "The request is too large."));
  } else if (request.path.starts_with("/sim/")) {
    response = answer_sim(*this, request);
  } else if (is_page(request.path)) {
    response = answer_page(*world_, request, now());
  } else if (auto call = route(request.method, request.path)) {
    response = co_await stripe(std::move(*call), std::move(request));
  } else {
    response = error_answer(
        StripeError(404, "invalid_request_error", "", "Unrecognized request URL: paysim has no such call."));
  }
  publish();
  response.headers.add("Server", "paysim (simulator)");
  co_return response;
}

Task<net::HttpResponse> Simulator::stripe(StripeCall call, net::HttpRequest request) {
  const FaultStep step = faults_->next(call.endpoint);
  const std::string key = idempotency_key_of(request);
  net::HttpResponse response;
  if (!key.empty() && !keys_in_use_.insert(key).second) {
    response = error_answer({409, "idempotency_error", "idempotency_key_in_use",
                             "There is currently another in-progress request using this key."});
  } else {
    co_await pass(step.latency);
    keys_in_use_.erase(key);
    if (tasks_.stopping()) co_return dropped();
    world_->settle(now());
    const StripeApi api{*world_, *keys_, options_.secret_key,
                        [this](const Event& event) { return webhooks_.pending(event); }};
    switch (step.fault) {
      case Fault::too_many_requests:
        response = error_answer({429, "invalid_request_error", "rate_limit", "Simulated fault."});
        response.headers.add("Retry-After", std::to_string(step.retry_after_s));
        break;
      case Fault::server_error:
        response = failed(503, "Simulated fault.");
        break;
      case Fault::drop_before:
        response = dropped();
        break;
      case Fault::refused:
        response = error_answer(invalid("Simulated refusal."));
        break;
      case Fault::repeated:
        answer(api, call, request, now());
        response = answer(api, call, request, now());
        break;
      default:
        response = spoiled(step.fault, answer(api, call, request, now()));
    }
    publish();
    co_await pass(step.answer_latency);
  }
  if (!key.empty()) response.headers.add("Idempotency-Key", key);
  response.headers.add("Request-Id", "req_" + crypto::random_base62(random_, 14));
  ++counts_[static_cast<std::size_t>(call.endpoint)][response.drop_connection ? 0 : response.status];
  co_return response;
}

}  // namespace presetbridge::paysim
