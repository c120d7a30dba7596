// The metrics port (spec 12.3). A metric is named by a static string with the unit last
// (`presetbridge_orders_total`); labels are few and bounded: never an id, never text from outside.
// Implemented in app/ over prometheus-cpp.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

namespace presetbridge {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Thread-safe; never throws.
class Metrics {
 public:
  virtual ~Metrics() = default;
  virtual void count(std::string_view counter, Labels labels = {}, double by = 1) noexcept = 0;
  virtual void set(std::string_view gauge, double value, Labels labels = {}) noexcept = 0;
  virtual void observe(std::string_view histogram_seconds, double seconds, Labels labels = {}) noexcept = 0;
};

class NullMetrics final : public Metrics {
 public:
  void count(std::string_view, Labels, double) noexcept override {}
  void set(std::string_view, double, Labels) noexcept override {}
  void observe(std::string_view, double, Labels) noexcept override {}
};

}  // namespace presetbridge
