// Sends events to the one endpoint that is configured, signed as Stripe signs them, and sends again what was
// not taken; with faults of the way between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "net/http_client.h"
#include "records.h"

namespace presetbridge::paysim {

// The value of Stripe-Signature: "t=<seconds>,v1=<hex>", a v1 for each secret.
std::string stripe_signature(std::string_view body, const std::vector<std::string>& secrets, Timestamp now);

struct WebhookFaults {
  double drop = 0;         // probabilities: the event is never sent,
  double duplicate = 0;    // it is sent twice,
  double reorder = 0;      // the next event overtakes it (if one comes within two seconds)
  double lose_answer = 0;  // the endpoint gets it, and it counts as not taken
  Millis delay_min{0};     // before the first attempt
  Millis delay_max{0};
};

struct WebhookOptions {
  std::string url;                   // http to loopback; empty: nothing is sent
  std::vector<std::string> secrets;  // the first is the newest; several while a rotation overlaps
  std::vector<std::string> types;    // which events are sent; empty: all
  std::vector<Millis> retry_after;   // between attempts; after the last of them an event is given up
  WebhookFaults faults;
};
std::vector<Millis> default_retries();

// Empty, or why `url` cannot be the endpoint's.
std::string problem_of_endpoint(std::string_view url);

struct WebhookCounts {
  std::int64_t attempts = 0;
  std::int64_t taken = 0;    // events that the endpoint answered with 2xx
  std::int64_t refused = 0;  // attempts that were answered otherwise, or not at all
  std::int64_t given_up = 0;
  std::int64_t dropped = 0;   // by a fault
  std::int64_t overflow = 0;  // not sent, as too many waited
};

// All on `scheduler`'s thread.
class WebhookSender {
 public:
  static constexpr std::size_t most_waiting = 40'000;
  static constexpr int most_at_once = 64;

  // All but `options` outlive this. `clock` is the machine's, by which signatures are dated.
  WebhookSender(Scheduler& scheduler, const Clock& clock, net::HttpClient& http, Log& log, std::uint64_t seed,
                WebhookOptions options);

  // What waits already is sent by the new options too.
  void configure(WebhookOptions options);
  const WebhookOptions& options() const { return options_; }
  void send(const std::shared_ptr<const Event>& event);
  // Whatever the types and the faults.
  void resend(const std::shared_ptr<const Event>& event);
  // What waits, or is under way.
  std::size_t pending() const { return deliveries_; }
  bool pending(const Event& event) const;
  const WebhookCounts& counts() const { return counts_; }
  // Forgets what waits, and the counts.
  void clear();
  // `stopped` is called when nothing is under way any more; stop the HTTP client to hasten that.
  void stop(Callback stopped) { tasks_.stop(std::move(stopped)); }

 private:
  struct Delivery {
    std::shared_ptr<const Event> event;
    std::size_t attempts = 0;
    std::vector<Delivery> behind;  // sent when the first attempt of this one has ended
  };

  Task<void> run();
  Task<void> attempt(Delivery delivery);
  // False: too much waits.
  bool begin(const Event& event);
  void end(const Event& event);
  void put(Delivery delivery, Millis delay);
  Timestamp start_due();
  bool chance(double probability);
  std::uint64_t draw();

  Scheduler& scheduler_;
  const Clock& clock_;
  net::HttpClient& http_;
  const std::uint64_t seed_;
  WebhookOptions options_;
  WebhookCounts counts_;
  std::uint64_t draws_ = 0;
  std::multimap<Timestamp, Delivery> waiting_;               // by when they are due
  std::vector<std::pair<Timestamp, Delivery>> held_;         // until another event goes before, or that time
  std::map<std::string, std::size_t, std::less<>> pending_;  // by event id: how many deliveries
  std::size_t deliveries_ = 0;                               // of all events
  std::size_t flying_ = 0;
  std::uint64_t era_ = 0;  // clear() begins a new one
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::paysim
