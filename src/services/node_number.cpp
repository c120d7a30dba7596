#include "services/node_number.h"

#include <utility>

#include "storage/node_store.h"

namespace presetbridge::services {

void NodeNumber::start() {
  running_ = true;
  spawn(loop(), [this](Outcome<void> outcome) {
    running_ = false;
    if (outcome.exception) {
      log_.error("the node's number is not renewed any more, by a fault");
      lost_();
    }
    ended();
  });
}

void NodeNumber::stop(Callback stopped) {
  stopping_ = true;
  stopped_ = std::move(stopped);
  wakeup_.notify();
  ended();
}

void NodeNumber::ended() {
  if (stopping_ && !running_ && stopped_) std::exchange(stopped_, {})();
}

Task<void> NodeNumber::loop() {
  bool told = false;
  while (!stopping_) {
    const auto kept = co_await commits_.write(scheduler_, [this](storage::Tx& tx) {
      return storage::keep_node_number(tx, number_, owner_, tx.now() + kNodeNumberLife);
    });
    if (!kept) log_.warn("the node's number could not be renewed", {{"error", kept.error().message}});
    if (kept && !*kept && !std::exchange(told, true)) {
      log_.error("another node has this one's number: this one ends", {{"number", std::int64_t{number_}}});
      lost_();
    }
    co_await wakeup_.wait(kNodeNumberRenewal);
  }
}

}  // namespace presetbridge::services
