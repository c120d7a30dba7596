#include "services/live/live_reader.h"

#include <algorithm>
#include <utility>

namespace presetbridge::services {
namespace {

constexpr std::string_view kResumed = R"({"resumed":true})";
constexpr std::string_view kBegun = R"({"resumed":false})";

}  // namespace

LiveReader::LiveReader(LiveChanges& changes, Scheduler& scheduler, std::shared_ptr<LiveFeed> feed,
                       LiveChanges::Reading reading)
    : changes_(changes),
      scheduler_(scheduler),
      feed_(std::move(feed)),
      until_(std::min(reading.until, changes.deps_.clock.now() + LiveChanges::kLongestReading)),
      slot_(std::move(reading.slot)),
      reader_(scheduler) {
  reader_.at = feed_->position();
  feed_->join(reader_);
}

LiveReader::~LiveReader() {
  feed_->leave(reader_);
  changes_.left(feed_);
}

void LiveReader::resume(LivePosition at) {
  feed_->move(reader_, at);
  greeting_ = live_event("hello", kResumed);
}

void LiveReader::begin() {
  const auto at = feed_->position();
  feed_->move(reader_, at);
  greeting_ = live_event("hello", kBegun, live_event_id(at));
}

void LiveReader::begin_anew() {
  feed_->move(reader_, feed_->position());
  greeting_ = live_event("hello", kBegun) + reset();
}

std::string LiveReader::reset() {
  changes_.deps_.metrics.count("presetbridge_live_resets_total");
  return live_event("reset", "{}", live_event_id(reader_.at));
}

Task<std::optional<std::string>> LiveReader::next() {
  for (;;) {
    const auto left = until_ - changes_.deps_.clock.now();
    if (ended_ || left <= Millis{0}) co_return std::nullopt;
    if (!greeting_.empty()) co_return std::exchange(greeting_, {});
    auto taken = feed_->take(reader_);
    if (taken.lost) co_return reset();
    if (taken.behind) co_return co_await read_on();
    if (!taken.text.empty()) co_return std::move(taken.text);
    const bool woken = co_await reader_.wakeup.wait(std::min(left, kLiveHeartbeatEvery));
    if (!woken && changes_.deps_.clock.now() < until_) co_return std::string(kLiveHeartbeat);
  }
}

Task<std::optional<std::string>> LiveReader::read_on() {
  auto page = co_await changes_.read_on(scheduler_, *feed_, reader_.at);
  if (!page) co_return std::nullopt;
  if (page->complete) {
    feed_->move(reader_, {reader_.at.generation, page->read_to});
    co_return std::move(page->text);
  }
  feed_->move(reader_, feed_->position());
  co_return reset();
}

void LiveReader::end(End why) {
  if (std::exchange(ended_, true)) return;
  if (why == End::slow) changes_.deps_.metrics.count("presetbridge_live_readers_dropped_total");
  reader_.wakeup.notify();
}

}  // namespace presetbridge::services
