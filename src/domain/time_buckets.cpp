#include "domain/time_buckets.h"

#include <algorithm>

namespace presetbridge::domain {

using std::chrono::days;

TimeBuckets::TimeBuckets(const TimeZone& zone, Bucket bucket, Timestamp from, Timestamp to)
    : zone_(zone), bucket_(bucket) {
  first_date_ = zone.date_at(from);
  if (bucket == Bucket::hour) {
    end_ = zone.start_of_hour(from);
    do {
      begins_.push_back(end_);
      end_ = zone.end_of_hour(end_);
    } while (end_ < to);
  } else {
    auto date = first_date_;
    end_ = zone.start_of(date);
    do {
      const auto begin = end_;
      end_ = zone.start_of(++date);
      // A date that was left out has no moment.
      if (end_ > begin) begins_.push_back(begin);
    } while (end_ < to);
  }
  end_date_ = zone.date_at(end_ - Millis{1}) + days{1};
}

std::optional<std::size_t> TimeBuckets::of(Timestamp at) const {
  if (at < begins_.front() || at >= end_) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::upper_bound(begins_, at) - begins_.begin()) - 1;
}

std::optional<std::size_t> TimeBuckets::of_date(std::chrono::sys_days date) const {
  if (date < first_date_ || date >= end_date_) return std::nullopt;
  return of(std::clamp(zone_.start_of(date), begins_.front(), end_ - Millis{1}));
}

}  // namespace presetbridge::domain
