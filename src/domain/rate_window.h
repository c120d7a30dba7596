// An exact rolling limit, as the log of admitted times (spec 3.4: 5 jobs in 60 s; spec 6.3: 100 requests in
// an hour). In no span of `window` are more than `limit` admitted; what is refused leaves no trace.
//
// Transactions overtake each other: one whose time is up to 15 seconds before the newest admitted comes at
// that one's time. A clock that steps back never opens the window: times that lie further in the future are
// moved to now, so that they are kept a whole window longer, and a clock that had run ahead does not shut the
// window for more than one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"

namespace presetbridge::domain {

struct Admission {
  bool allowed = false;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;  // after this request
  Millis reset_after{};        // until the whole limit is free again (RateLimit-Reset); 0 if it is
  Millis retry_after{};        // until one is free; 0 if one is free now
};

class RateWindow {
 public:
  // limit >= 0, window > 0.
  RateWindow(std::int64_t limit, Millis window) : limit_(limit), window_(window) {}

  // A window of which nothing is free until `now + window`: what stands in for a log that cannot be read, as
  // nobody knows what it had admitted.
  static RateWindow full(std::int64_t limit, Millis window, Timestamp now);

  // Counts one request if it is allowed.
  Admission admit(Timestamp now);
  // Takes back an admission of some seconds ago at most: one that counts at that time, or at the later one that
  // it was overtaken by. None is no error.
  void give_back(Timestamp admitted_at);
  // Whether admit() would allow a request. Counts nothing: `remaining` is the number before that request.
  Admission peek(Timestamp now) const;
  // The earliest time, not before `now`, when a request is allowed; never with limit 0: then nothing.
  std::optional<Timestamp> next_free(Timestamp now) const;

  // 8 bytes little-endian a time (Unix ms), oldest first: at most max(limit, what was decoded) of them.
  std::vector<std::byte> encode() const;
  // Nothing unless `bytes` is what encode makes (whole entries, ascending, at most 100,000). The limit and
  // window may have changed since.
  static std::optional<RateWindow> decode(std::int64_t limit, Millis window,
                                          std::span<const std::byte> bytes);

 private:
  // Forgets what left the window, moves what lies in the future; returns the time that counts for `now`.
  Timestamp settle(Timestamp now);

  std::int64_t limit_;
  Millis window_;
  std::vector<Timestamp> admitted_;  // ascending
};

}  // namespace presetbridge::domain
