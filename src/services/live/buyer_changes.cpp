#include "services/live/buyer_changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/wakeup.h"
#include "services/live/live_reader.h"

namespace presetbridge::services {

using storage::DeliveryMark;
using storage::Tx;

namespace {

constexpr Millis kLongest = std::chrono::hours{1};
constexpr std::size_t kDeliveriesAtOnce = 500;

std::string event_of(std::string_view kind, std::string_view data, const DeliveryMark& mark) {
  return live_event(kind, data, std::to_string(mark.version));
}

}  // namespace

// Lives on `scheduler`, but for seen(), which any thread calls.
class BuyerReader final : public net::BodyStream {
 public:
  BuyerReader(BuyerChanges& changes, Scheduler& scheduler, BuyerChanges::Reading reading)
      : changes_(changes),
        delivery_(reading.delivery),
        link_version_(reading.now.link_version),
        until_(changes.deps_.clock.now() + kLongest),
        slot_(std::move(reading.slot)),
        wakeup_(scheduler),
        newest_(reading.now),
        known_version_(reading.now.version) {
    if (reading.last_event_id.empty()) {
      greeting_ = event_of("hello", R"({"resumed":false})", reading.now);
    } else {
      greeting_ = live_event("hello", R"({"resumed":true})");
      if (reading.last_event_id != std::to_string(known_version_)) known_version_ = 0;
    }
  }
  ~BuyerReader() override { changes_.remove(*this); }

  DeliveryId delivery() const { return delivery_; }

  void seen(const std::optional<DeliveryMark>& mark) {
    {
      const std::scoped_lock lock(mutex_);
      if (newest_ == mark) return;
      newest_ = mark;
    }
    wakeup_.notify();
  }

  Task<std::optional<std::string>> next() override {
    for (;;) {
      const auto left = until_ - changes_.deps_.clock.now();
      const auto newest = this->newest();
      if (ended_ || left <= Millis{0} || !newest || newest->link_version != link_version_)
        co_return std::nullopt;
      if (!greeting_.empty()) co_return std::exchange(greeting_, {});
      if (newest->version != known_version_) {
        known_version_ = newest->version;
        co_return event_of("delivery", R"({"updatedAt":")" + to_iso8601(newest->updated_at) + R"("})",
                           *newest);
      }
      const bool woken = co_await wakeup_.wait(std::min(left, kLiveHeartbeatEvery));
      if (!woken && changes_.deps_.clock.now() < until_) co_return std::string(kLiveHeartbeat);
    }
  }
  void end(End why) override {
    if (std::exchange(ended_, true)) return;
    if (why == End::slow) changes_.deps_.metrics.count("presetbridge_live_readers_dropped_total");
    wakeup_.notify();
  }

 private:
  std::optional<DeliveryMark> newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
  }

  BuyerChanges& changes_;
  const DeliveryId delivery_;
  const std::int64_t link_version_;
  const Timestamp until_;
  const SharedSlots::Slot slot_;
  Wakeup wakeup_;
  mutable std::mutex mutex_;  // guards newest_; what follows is the connection's
  std::optional<DeliveryMark> newest_;
  std::int64_t known_version_;  // a version; 0: none that the reader knows
  std::string greeting_;
  bool ended_ = false;
};

std::shared_ptr<net::BodyStream> BuyerChanges::open(Scheduler& scheduler, Reading reading) {
  auto reader = std::make_shared<BuyerReader>(*this, scheduler, std::move(reading));
  {
    const std::scoped_lock lock(mutex_);
    readers_[reader->delivery()].insert(reader.get());
  }
  tasks_.wake();
  return reader;
}

void BuyerChanges::remove(BuyerReader& reader) {
  const std::scoped_lock lock(mutex_);
  const auto of = readers_.find(reader.delivery());
  if (of == readers_.end()) return;
  of->second.erase(&reader);
  if (of->second.empty()) readers_.erase(of);
}

void BuyerChanges::start() {
  tasks_.start_loop(loop(), "buyers' live changes");
}

void BuyerChanges::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> BuyerChanges::loop() {
  while (!tasks_.stopping()) {
    bool any = false;
    {
      const std::scoped_lock lock(mutex_);
      any = !readers_.empty();
    }
    co_await tasks_.wait(any ? polls_.left(deps_.clock.now()) : std::chrono::minutes{1});
    if (!tasks_.stopping() && polls_.take(deps_.clock.now())) co_await poll();
  }
}

Task<void> BuyerChanges::poll() {
  std::vector<DeliveryId> deliveries;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [delivery, readers] : readers_) deliveries.push_back(delivery);
  }
  std::ranges::sort(deliveries);
  for (std::size_t from = 0; from < deliveries.size() && !tasks_.stopping(); from += kDeliveriesAtOnce) {
    const auto some = std::span<const DeliveryId>(deliveries)
                          .subspan(from, std::min(kDeliveriesAtOnce, deliveries.size() - from));
    auto marks = co_await deps_.async_db.read(deps_.scheduler,
                                              [some](Tx& tx) { return find_delivery_marks(tx, some); });
    if (!marks) {
      if (!storage::is_logged(marks.error()))
        deps_.log.warn("buyers' deliveries could not be read", {{"error", marks.error().message}});
      co_return;
    }
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto of = readers_.find(some[i]);
      if (of == readers_.end()) continue;
      for (auto* reader : of->second) reader->seen((*marks)[i]);
    }
  }
}

}  // namespace presetbridge::services
