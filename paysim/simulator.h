// The simulator as an HTTP handler: Stripe's API, the buyer's pages and the tests' own API over one world,
// with faults. Runs on one thread, that of `scheduler`.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/wakeup.h"
#include "calls.h"
#include "idempotency.h"
#include "net/http.h"
#include "net/http_client.h"
#include "webhooks.h"
#include "world.h"

namespace presetbridge::paysim {

struct SimulatorOptions {
  std::uint64_t seed = 1;
  std::string secret_key;   // the only one that is taken; empty: any of test mode
  std::string api_version;  // of events
  WebhookOptions webhooks;
};

class Simulator final : public net::HttpHandler {
 public:
  using Counts = std::array<std::map<int, std::int64_t>, kEndpoints>;  // by endpoint: answers by status

  // All but `options` must outlive this.
  Simulator(Scheduler& scheduler, const Clock& clock, Random& random, net::HttpClient& http, Log& log,
            SimulatorOptions options);

  // Where the buyer's pages are; before the first session.
  void set_page_url(std::string url);

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

  // Ends all delays: a call that has had no effect yet is dropped. `stopped` is called when nothing runs any
  // more. On the scheduler's thread, once.
  void stop(Callback stopped);
  // Empties the world, ends faults, and takes clock and endpoint as they were at the start.
  void reset();

  World& world() { return *world_; }
  FaultPlan& faults() { return *faults_; }
  WebhookSender& webhooks() { return webhooks_; }
  const Counts& counts() const { return counts_; }
  // Calls that a simulated delay holds, at this moment.
  std::size_t delayed() const { return delays_.size(); }
  // The world's time: the machine's, and what was added to it.
  Timestamp now() const { return clock_.now() + shift_; }
  void shift(Millis by) { shift_ += by; }
  Millis shifted() const { return shift_; }

 private:
  Task<void> pass(Millis time);
  Task<net::HttpResponse> stripe(StripeCall call, net::HttpRequest request);
  Task<void> run();
  void publish();

  Scheduler& scheduler_;
  const Clock& clock_;
  Random& random_;
  const SimulatorOptions options_;
  std::string page_url_;
  Millis shift_{0};
  std::unique_ptr<World> world_;
  std::unique_ptr<IdempotencyKeys> keys_;
  std::unique_ptr<FaultPlan> faults_;
  WebhookSender webhooks_;
  Counts counts_;
  std::set<std::string> keys_in_use_;
  std::set<Wakeup*> delays_;  // of the calls that wait
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::paysim
