// One reader of an account's changes: the body of its answer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "services/live/live_changes.h"

namespace presetbridge::services {

// How long a stream says nothing.
inline constexpr Millis kLiveHeartbeatEvery{20'000};

// Lives on `scheduler`.
class LiveReader final : public net::BodyStream {
 public:
  LiveReader(LiveChanges& changes, Scheduler& scheduler, std::shared_ptr<LiveFeed> feed,
             LiveChanges::Reading reading);
  ~LiveReader() override;

  LiveFeed& feed() { return *feed_; }
  // One of these is called once, before next(): to go on at a position; to begin at the feed's present end;
  // to begin there with a notice that changes were missed.
  void resume(LivePosition at);
  void begin();
  void begin_anew();

  Task<std::optional<std::string>> next() override;
  void end(End why) override;

 private:
  Task<std::optional<std::string>> read_on();
  std::string reset();

  LiveChanges& changes_;
  Scheduler& scheduler_;
  const std::shared_ptr<LiveFeed> feed_;
  const Timestamp until_;
  const SharedSlots::Slot slot_;
  LiveFeed::Reader reader_;
  std::string greeting_;
  bool ended_ = false;
};

}  // namespace presetbridge::services
