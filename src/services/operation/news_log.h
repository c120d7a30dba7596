// Writes the effects of transactions to the log and the metrics (storage/news.h): one line at info for each
// end of an order and of a delivery, so that the store's id of an order, or ours, finds its acceptance and
// its end, and one when work of a cloud account stops for trouble of the platform or goes on (spec 12.3).
#pragma once

#include "base/log.h"
#include "base/metrics.h"
#include "storage/news.h"

namespace presetbridge::services {

// Thread-safe. Both ports outlive this.
class NewsLog {
 public:
  NewsLog(Log& log, Metrics& metrics) : log_(log), metrics_(metrics) {}

  // For AsyncDatabase's options.
  void write(const storage::News& news) const;

 private:
  void log_orders(const storage::News& news, storage::OrderNews::Kind kind, std::string_view message,
                  std::string_view outcome) const;
  void log_purchases(const storage::News& news) const;
  void log_deliveries(const storage::News& news) const;

  Log& log_;
  Metrics& metrics_;
};

}  // namespace presetbridge::services
