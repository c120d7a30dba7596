#include "app/metrics/metrics_registry.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "app/metrics/metric_families.h"

namespace presetbridge::app {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

// Names a series among those of its kind. Labels come in one order from one place in the code; another order
// is found again by prometheus-cpp itself.
std::string series_key(std::string_view name, Labels labels) {
  std::string key(name);
  for (const auto& [label, value] : labels) {
    key.append(1, '\0').append(label).append(1, '\0').append(value);
  }
  return key;
}

// All series of one kind: found by key without prometheus-cpp's lock and its maps of strings.
template <class Metric>
class Series {
 public:
  // Null: not to be made.
  template <class Build, class Add>
  Metric* find(std::string_view name, Labels labels, bool room, Build build, Add add) {
    const std::string key = series_key(name, labels);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    if (!room) return nullptr;
    const std::unique_lock lock(mutex_);
    auto family = families_.find(name);
    if (family == families_.end())
      family = families_.emplace(std::string(name), &build(std::string(name))).first;
    prometheus::Labels full;
    for (const auto& [label, value] : labels) full.emplace(label, value);
    return known_.emplace(key, &add(*family->second, full)).first->second;
  }
  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return known_.size();
  }

 private:
  mutable std::shared_mutex mutex_;  // guards known_ and families_
  std::unordered_map<std::string, Metric*> known_;
  std::map<std::string, prometheus::Family<Metric>*, std::less<>> families_;
};

}  // namespace

struct MetricsRegistry::State {
  explicit State(std::size_t most)
      : max_series(most),
        dropped(prometheus::BuildCounter()
                    .Name("presetbridge_metrics_dropped_total")
                    .Help(std::string(help_of("presetbridge_metrics_dropped_total")))
                    .Register(registry)
                    .Add({})) {}

  bool room() const { return counters.size() + gauges.size() + histograms.size() < max_series; }

  template <class Metric, class Use>
  void use(Series<Metric>& series, std::string_view name, Labels labels, auto build, auto add,
           Use use_it) noexcept {
    try {
      if (auto* metric = series.find(name, labels, room(), build, add)) return use_it(*metric);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // A name or label that Prometheus has no room for, or no memory: counted as dropped.
    }
    dropped.Increment();
  }

  const std::size_t max_series;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Throw};
  prometheus::Counter& dropped;
  Series<prometheus::Counter> counters;
  Series<prometheus::Gauge> gauges;
  Series<prometheus::Histogram> histograms;
};

MetricsRegistry::MetricsRegistry(std::size_t max_series) : state_(std::make_unique<State>(max_series)) {}
MetricsRegistry::~MetricsRegistry() = default;

void MetricsRegistry::count(std::string_view counter, Labels labels, double by) noexcept {
  state_->use(
      state_->counters, counter, labels,
      [this](std::string name) -> auto& {
        return prometheus::BuildCounter()
            .Name(name)
            .Help(std::string(help_of(name)))
            .Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full); },
      [by](prometheus::Counter& metric) { metric.Increment(by); });
}

void MetricsRegistry::set(std::string_view gauge, double value, Labels labels) noexcept {
  state_->use(
      state_->gauges, gauge, labels,
      [this](std::string name) -> auto& {
        return prometheus::BuildGauge()
            .Name(name)
            .Help(std::string(help_of(name)))
            .Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full); },
      [value](prometheus::Gauge& metric) { metric.Set(value); });
}

void MetricsRegistry::observe(std::string_view histogram_seconds, double seconds, Labels labels) noexcept {
  with_histogram(histogram_seconds, labels,
                 [seconds](prometheus::Histogram& metric) { metric.Observe(seconds); });
}

void MetricsRegistry::show(std::string_view histogram_seconds, Labels labels) noexcept {
  with_histogram(histogram_seconds, labels, [](prometheus::Histogram&) {});
}

template <class Use>
void MetricsRegistry::with_histogram(std::string_view histogram_seconds, Labels labels, Use use) noexcept {
  state_->use(
      state_->histograms, histogram_seconds, labels,
      [this](std::string name) -> auto& {
        return prometheus::BuildHistogram()
            .Name(name)
            .Help(std::string(help_of(name)))
            .Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full, kSeconds); }, use);
}

std::string MetricsRegistry::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace presetbridge::app
