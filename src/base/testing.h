// Fakes of the ports of base/, for tests of every layer: a clock that a test sets, chance from a seed, a log
// and metrics to inspect, and a virtual-time scheduler that runs callbacks in a fixed order.
#pragma once

#include <atomic>
#include <map>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"

namespace presetbridge::testing {

// Threads may read it while one sets it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = from_unix_ms(1'790'000'000'000)) : now_(start) {}
  Timestamp now() const override { return now_.load(); }
  void advance(Millis by) { now_ = now_.load() + by; }
  void set(Timestamp to) { now_ = to; }

 private:
  std::atomic<Timestamp> now_;
};

// Deterministic, not secure.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed = 1) : engine_(seed) {}
  void fill(std::span<std::byte> out) override {
    for (auto& b : out) b = static_cast<std::byte>(engine_() & 0xff);
  }

 private:
  std::mt19937_64 engine_;
};

// The lines as texts, in order: "message name=value name=value".
class RecordingLog final : public Log {
 public:
  void write(Severity, std::string_view message, std::span<const LogField> fields) noexcept override {
    text += message;
    for (const auto& field : fields) {
      text.append(" ").append(field.name).append("=");
      if (const auto* value = std::get_if<std::string_view>(&field.value)) {
        text += *value;
      } else {
        text += std::to_string(std::get<std::int64_t>(field.value));
      }
    }
    text += '\n';
  }
  std::string text;
};

// The counts, by the counter's name alone.
class CountingMetrics final : public Metrics {
 public:
  void count(std::string_view counter, Labels, double by) noexcept override {
    counted[std::string(counter)] += by;
  }
  void set(std::string_view gauge, double value, Labels) noexcept override {
    gauges[std::string(gauge)] = value;
  }
  void observe(std::string_view, double, Labels) noexcept override {}
  std::map<std::string, double> counted;
  std::map<std::string, double> gauges;
};

// Runs on the thread that calls run(); time stands still but for advance(). Not thread-safe.
class VirtualScheduler final : public Scheduler {
 public:
  explicit VirtualScheduler(ManualClock& clock) : clock_(clock) {}

  void post(Callback callback) override { due_.emplace(Key{clock_.now(), ++order_}, std::move(callback)); }

  std::unique_ptr<Timer> schedule(Millis delay, Callback callback) override {
    const Key key{clock_.now() + std::max(delay, Millis{0}), ++order_};
    due_.emplace(key, std::move(callback));
    return std::make_unique<Entry>(*this, key);
  }

  // Runs the first that is due now; false: nothing is.
  bool run_one() {
    if (due_.empty() || due_.begin()->first.first > clock_.now()) return false;
    auto callback = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    callback();
    return true;
  }
  // Runs everything that is due now, and what that makes due now.
  void run() {
    while (run_one()) {
    }
  }
  // Lets `by` pass, stopping at each timer on the way, in order.
  void advance(Millis by) {
    const Timestamp end = clock_.now() + by;
    run();
    while (!due_.empty() && due_.begin()->first.first <= end) {
      clock_.set(std::max(clock_.now(), due_.begin()->first.first));
      run();
    }
    clock_.set(end);
    run();
  }
  bool idle() const { return due_.empty(); }

 private:
  using Key = std::pair<Timestamp, std::uint64_t>;
  struct Entry final : Timer {
    Entry(VirtualScheduler& s, Key k) : owner(s), key(k) {}
    ~Entry() override { owner.due_.erase(key); }
    VirtualScheduler& owner;
    Key key;
  };
  ManualClock& clock_;
  std::uint64_t order_ = 0;
  std::map<Key, Callback> due_;
};

}  // namespace presetbridge::testing
