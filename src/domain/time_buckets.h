// A period as whole hours or days of a time zone, of which each has its place, also those in which nothing
// was.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/time_zone.h"

namespace presetbridge::domain {

enum class Bucket { hour, day };

class TimeBuckets {
 public:
  // The hours or days in which `from` to before `to` lies. Costs one step each; the caller limits them.
  TimeBuckets(const TimeZone& zone, Bucket bucket, Timestamp from, Timestamp to);

  Bucket bucket() const { return bucket_; }
  std::size_t size() const { return begins_.size(); }
  Timestamp begin(std::size_t n) const { return begins_[n]; }
  Timestamp begin() const { return begins_.front(); }
  Timestamp end() const { return end_; }
  // Dates of the zone: of the first moment, and of the first after the last.
  std::chrono::sys_days first_date() const { return first_date_; }
  std::chrono::sys_days end_date() const { return end_date_; }

  // Where a moment, or what is known of a whole date alone, belongs; nothing: outside.
  std::optional<std::size_t> of(Timestamp at) const;
  std::optional<std::size_t> of_date(std::chrono::sys_days date) const;

 private:
  TimeZone zone_;
  Bucket bucket_;
  std::vector<Timestamp> begins_;
  Timestamp end_;
  std::chrono::sys_days first_date_;
  std::chrono::sys_days end_date_;
};

}  // namespace presetbridge::domain
