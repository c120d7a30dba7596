// The operating system's randomness, through libsodium.
#pragma once

#include "base/clock.h"

namespace presetbridge::crypto {

// Initialises libsodium. Call it once in main before threads start; further calls, from any thread, do
// nothing. Throws std::runtime_error when the system provides no randomness.
void initialise();

class SystemRandom final : public Random {
 public:
  SystemRandom() { initialise(); }
  void fill(std::span<std::byte> out) override;
};

}  // namespace presetbridge::crypto
