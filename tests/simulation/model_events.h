// What subscribers must be sent, written from spec 10 alone: which events a delivery's states may come with,
// in which order, and what becomes of each attempt to deliver one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model.h"

namespace presetbridge::simulation {

// As the service stores it.
struct Event {
  std::int64_t id = 0;
  bool of_delivery = false;
  std::int64_t sequence = 0;
  std::string type;
  std::string uuid;
  std::string body;
  std::set<std::size_t> receivers;  // to whom it is to be sent
  std::string body_before = {};     // until its buyer was erased
  Timestamp erased_at{};
};
// One request, as its receiver saw it.
struct Attempt {
  std::size_t receiver = 0;
  std::string uuid;
  std::string type;
  std::string body;
  Timestamp begun{};
  Timestamp ended{};
  std::optional<int> status;  // nothing: no answer came
  bool over = false;
  bool heard = false;      // the process that sent it lived to record how it ended
  bool uncertain = false;  // heard, and the power failed at that moment: perhaps the record is lost
};
struct Dispatch {
  std::string status;
  std::int64_t attempts = 0;
};

class EventModel {
 public:
  // Each returns what is wrong; empty: nothing.
  // `delivery`: the order whose delivery's event it is; empty: of no delivery.
  std::string event(const Event& event, const std::string& delivery);
  // The delivery as it is, after all its events. `test`: of a test order. `asked`: friend requests that were made to its buyers;
  // nothing: unknown.
  std::string seen(const std::string& delivery, const Seen& seen, std::int64_t sequence, bool test,
                   std::optional<int> asked);
  // How many order.unmapped there were of the order.
  int unmapped(const std::string& order) const;
  // A person says that the delivery is delivered, and no file is known that its order pays for.
  void completed_without_files(const std::string& delivery) { histories_[delivery].without_files = true; }
  // The event's buyer was erased at this time: its body names nobody, and says else what it said.
  std::string erased(const std::string& uuid, const std::string& body, Timestamp at);
  std::string attempt(const Attempt& attempt);
  // The power failed: what ended at this time perhaps was not recorded.
  void power_failed(Timestamp at);
  // What must have become of the event at a receiver by now; `active`: the receiver's subscription.
  std::string dispatched(const std::string& uuid, std::size_t receiver, const Dispatch& dispatch, bool active,
                         bool all_over) const;
  // A receiver answered 410: its subscription is inactive from then on.
  bool gone(std::size_t receiver) const { return gone_.contains(receiver); }
  // It is subscribed again.
  void back(std::size_t receiver) {
    gone_.erase(receiver);
    perhaps_gone_.erase(receiver);
  }

 private:
  enum class Stage { none, open, completed, failed, review, invalidated };
  struct History {
    Stage stage = Stage::none;
    std::int64_t sequence = 0;
    int tests = 0;               // events that say that it is a dry run
    int waiting = 0;             // how often receivers heard that it waits
    bool without_files = false;  // completed_without_files() was called
    std::string last_type;
    std::string order_event;  // spec 2.13
    std::string created_at;
  };
  struct Sent {
    std::vector<Attempt> attempts;
  };
  // `recorded`: whether the record of an uncertain attempt is there.
  static std::string outcome(const Sent& sent, bool recorded);
  static std::int64_t heard(const Sent& sent, bool recorded);

  std::map<std::string, History> histories_;
  std::map<std::string, Event> events_;  // by uuid
  std::map<std::string, int> unmapped_;
  std::map<std::pair<std::string, std::size_t>, Sent> sent_;
  std::map<std::size_t, Timestamp> gone_;
  std::set<std::size_t> perhaps_gone_;  // answered 410 as the power failed
};

}  // namespace presetbridge::simulation
