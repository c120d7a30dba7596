// The Metrics port over prometheus-cpp (spec 12.3), and its text for GET /metrics.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/metrics.h"

namespace presetbridge::app {

// Thread-safe. Drops observations whose name or labels Prometheus would refuse, and those of every series
// beyond `max_series`, which bounds the memory that labels with too many values take. Counts what it drops
// in presetbridge_metrics_dropped_total.
class MetricsRegistry final : public Metrics {
 public:
  explicit MetricsRegistry(std::size_t max_series = 5'000);
  ~MetricsRegistry() override;

  void count(std::string_view counter, Labels labels = {}, double by = 1) noexcept override;
  void set(std::string_view gauge, double value, Labels labels = {}) noexcept override;
  void observe(std::string_view histogram_seconds, double seconds, Labels labels = {}) noexcept override;

  // Lists a histogram's series in text() before anything is observed.
  void show(std::string_view histogram_seconds, Labels labels = {}) noexcept;

  // Prometheus' text format 0.0.4.
  std::string text() const;

 private:
  template <class Use>
  void with_histogram(std::string_view histogram_seconds, Labels labels, Use use) noexcept;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace presetbridge::app
