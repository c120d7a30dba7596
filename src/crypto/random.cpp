#include "crypto/random.h"

#include <sodium.h>

#include <stdexcept>

namespace presetbridge::crypto {

void initialise() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium could not be initialised");
}

void SystemRandom::fill(std::span<std::byte> out) {
  if (!out.empty()) randombytes_buf(out.data(), out.size());
}

}  // namespace presetbridge::crypto
