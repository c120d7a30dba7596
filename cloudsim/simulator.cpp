#include "simulator.h"

#include <utility>

#include "sim_api.h"

namespace presetbridge::cloudsim {
namespace {

net::HttpResponse dropped() {
  net::HttpResponse response;
  response.drop_connection = true;
  return response;
}

// What is left of an answer after a fault that comes behind the effect.
net::HttpResponse spoiled(Fault fault, net::HttpResponse response) {
  switch (fault) {
    case Fault::drop_after:
      return dropped();
    case Fault::server_error_after:
      return error_answer(500, "unavailable", "Simulated fault after the effect.");
    case Fault::malformed:
      response.status = response.status == 204 ? 200 : response.status;
      response.body = R"({"id":"simulated fault, br)";
      return response;
    case Fault::wrong:
      response.status = response.status == 204 ? 200 : response.status;
      response.body = R"({"id":17,"state":"simulated fault","files":{},"changes":null})";
      return response;
    default:
      return response;
  }
}

net::HttpResponse named(net::HttpResponse response) {
  response.headers.add("Server", "cloudsim (simulator)");
  return response;
}

}  // namespace

Simulator::Simulator(Scheduler& scheduler, const Clock& clock, Random& random, SimulatorOptions options)
    : scheduler_(scheduler), clock_(clock), random_(random), options_(options), log_(options.logged_calls) {
  reset();
}

void Simulator::reset() {
  world_ = std::make_unique<World>(random_, options_.world);
  faults_ = std::make_unique<FaultPlan>(options_.seed);
  log_.clear();
}

void Simulator::stop() {
  stopping_ = true;
  for (auto* delay : delays_) delay->notify();
}

Task<void> Simulator::pass(Millis time) {
  if (time <= Millis{0} || stopping_) co_return;
  Wakeup end(scheduler_);
  delays_.insert(&end);
  co_await end.wait(time);
  delays_.erase(&end);
}

Task<net::HttpResponse> Simulator::handle(net::HttpRequest request) {
  if (request.path.starts_with("/sim/")) co_return named(answer_sim(*this, request));
  auto call = route(request.method, request.path);
  if (!call) co_return named(error_answer(404, "rejected", "The contract has no such call."));
  co_return named(co_await platform(std::move(*call), std::move(request)));
}

Task<net::HttpResponse> Simulator::platform(PlatformCall call, net::HttpRequest request) {
  const Endpoint endpoint = call.endpoint;
  const FaultStep step = faults_->next(endpoint);
  const std::uint64_t number = log_.arrive(now(), endpoint, request.target, step.fault);
  co_await pass(step.latency);
  if (stopping_) co_return dropped();

  PlatformAnswer result;
  switch (step.fault) {
    case Fault::too_many_requests:
      result.response = error_answer(429, "rate_limited", "Simulated fault.");
      result.response.headers.add("Retry-After", std::to_string(step.retry_after_s));
      break;
    case Fault::server_error:
      result.response = error_answer(503, "unavailable", "Simulated fault.");
      break;
    case Fault::drop_before:
      result.response = dropped();
      break;
    case Fault::refused:
      result.response = error_answer(422, "refused", "Simulated refusal.");
      break;
    default:
      if (step.fault == Fault::repeated) answer(*world_, call, request, now());
      result = answer(*world_, call, request, now());
      result.response = spoiled(step.fault, std::move(result.response));
  }
  co_await pass(step.answer_latency);
  log_.end(number, endpoint, result.merchant, result.response.drop_connection ? 0 : result.response.status);
  co_return std::move(result.response);
}

}  // namespace presetbridge::cloudsim
