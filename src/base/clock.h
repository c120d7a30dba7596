// Ports for what is not a function of its arguments: time and chance. Injected in app/, faked in tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/time.h"

namespace presetbridge {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

// How long something takes, by a clock: none where the clock was set back.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock) : clock_(clock), begun_(clock.now()) {}
  Millis elapsed() const { return std::max(clock_.now() - begun_, Millis{0}); }

 private:
  const Clock& clock_;
  const Timestamp begun_;
};

// Cryptographically secure bytes. Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::byte> out) = 0;

  std::uint64_t u64() {
    std::uint64_t v = 0;
    fill(std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
};

}  // namespace presetbridge
