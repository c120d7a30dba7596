#include "app/metrics_registry.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace presetbridge::app {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

// What each metric counts, for HELP; docs/operations.md says more.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kHelp = {{
    {"presetbridge_http_requests_total", "Answers of routes, by route and status."},
    {"presetbridge_http_request_seconds", "Time to answer, by route."},
    {"presetbridge_orders_accepted_total", "Order webhooks answered with 202, by kind."},
    {"presetbridge_webhooks_refused_total", "Order webhooks answered with 401 or 400, by reason."},
    {"presetbridge_cloud_call_failures_total",
     "Calls of deliveries to the cloud platform that did not succeed, logins included."},
    {"presetbridge_webhook_sends_total", "Attempts at outbound webhooks, by outcome."},
    {"presetbridge_worker_faults_total", "Work of the delivery worker that met a fault of ours."},
    {"presetbridge_dispatcher_faults_total", "Work of the webhook dispatcher that met a fault of ours."},
    {"presetbridge_metrics_dropped_total", "Observations of series beyond what is kept."},
}};

std::string help_of(std::string_view name) {
  const auto found = std::ranges::find(kHelp, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kHelp.end() ? std::string() : std::string(found->second);
}

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
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Metric*> known_;
  std::map<std::string, prometheus::Family<Metric>*, std::less<>> families_;
};

}  // namespace

struct MetricsRegistry::State {
  explicit State(std::size_t most)
      : max_series(most),
        dropped(prometheus::BuildCounter()
                    .Name("presetbridge_metrics_dropped_total")
                    .Help(help_of("presetbridge_metrics_dropped_total"))
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
        return prometheus::BuildCounter().Name(name).Help(help_of(name)).Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full); },
      [by](prometheus::Counter& metric) { metric.Increment(by); });
}

void MetricsRegistry::set(std::string_view gauge, double value, Labels labels) noexcept {
  state_->use(
      state_->gauges, gauge, labels,
      [this](std::string name) -> auto& {
        return prometheus::BuildGauge().Name(name).Help(help_of(name)).Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full); },
      [value](prometheus::Gauge& metric) { metric.Set(value); });
}

void MetricsRegistry::observe(std::string_view histogram_seconds, double seconds, Labels labels) noexcept {
  state_->use(
      state_->histograms, histogram_seconds, labels,
      [this](std::string name) -> auto& {
        return prometheus::BuildHistogram().Name(name).Help(help_of(name)).Register(state_->registry);
      },
      [](auto& family, const prometheus::Labels& full) -> auto& { return family.Add(full, kSeconds); },
      [seconds](prometheus::Histogram& metric) { metric.Observe(seconds); });
}

std::string MetricsRegistry::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace presetbridge::app
