// Receivers of outbound events in memory, their subscriptions, and the dispatcher that sends to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "history.h"
#include "model_events.h"
#include "net/http_client.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "services/testing.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::simulation {

class Receivers final : public net::HttpClient {
 public:
  Receivers(Scheduler& scheduler, const Clock& clock) : scheduler_(scheduler), clock_(clock) {}
  static std::string url_of(std::size_t receiver);
  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override;
  // The process that has calls under way ends: it does not hear how they end.
  void abort_all();

  std::vector<Mood> moods = std::vector<Mood>(kReceivers, Mood::well);
  std::vector<Attempt> attempts;  // in the order in which they began
  std::function<bool()> hears;    // whether the process that sends lives

 private:
  struct Call {
    std::size_t attempt = 0;
    std::function<void(net::HttpResult)> resume;
    std::unique_ptr<Timer> timer;
  };
  void end(std::size_t call, bool heard);

  Scheduler& scheduler_;
  const Clock& clock_;
  std::vector<std::unique_ptr<Call>> calls_;
};

class Outbound {
 public:
  explicit Outbound(services::testing::World& world);
  ~Outbound();
  Outbound(const Outbound&) = delete;
  Outbound& operator=(const Outbound&) = delete;

  void wake() { dispatcher_->wake(); }
  // False: the storage was away. A receiver that answered 410 and is well again is subscribed again.
  bool set_mood(const Command& command);
  void all_well();
  // The process ends: the scheduler runs until it is still; and another begins.
  void stop();
  void start();
  // What was recorded at this time perhaps was not.
  void power_failed();
  // New events and attempts. `order_of`: the order of a delivery's id. Returns what is wrong; empty: nothing.
  std::string check(const std::function<std::string(std::int64_t)>& order_of);
  void completed_without_files(const std::string& order) { model_.completed_without_files(order); }
  // The buyer of the delivery was erased.
  std::string erased(DeliveryId delivery);
  // What became of each event, likewise; `all_over`: more time than all retries take has passed.
  std::string judge_all(bool all_over);
  std::string judge(const std::string& order, const storage::DeliveryRow& row, const Seen& seen, bool test,
                    std::optional<int> asked) {
    return model_.seen(order, seen, row.sequence, test, asked);
  }
  int unmapped(const std::string& order) const { return model_.unmapped(order); }

  std::vector<std::string> said;     // the events that look() found
  std::vector<std::string> waiting;  // orders of the events among them that say that they wait
  std::function<bool()> hears = [] { return true; };  // whether the process lives

 private:
  std::set<std::size_t> active();

  services::testing::World& world_;
  Receivers receivers_{world_.scheduler, world_.database.clock};
  std::unique_ptr<services::WebhookDispatcher> dispatcher_;
  services::Subscriptions service_;
  std::vector<SubscriptionId> subscriptions_;
  std::set<std::size_t> active_;  // when events were last read
  EventModel model_;
  std::int64_t last_event_ = 0;
  std::map<std::int64_t, std::string> uuids_;  // by the event's id
  std::size_t judged_ = 0;                     // attempts before it are over, and judged
};

}  // namespace presetbridge::simulation
