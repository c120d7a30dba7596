// argon2id for the embedded issuer's passwords (spec 7.2), in libsodium's string form, which carries salt and
// cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace presetbridge::crypto {

struct PasswordCost {
  std::uint64_t operations;  // passes; at least 1
  std::size_t memory_bytes;  // at least 8 KiB
  bool operator==(const PasswordCost&) const = default;
};

inline constexpr PasswordCost kInteractivePasswordCost{2, 64u << 20};
// Longer passwords are refused, so that no request makes us hash a megabyte.
inline constexpr std::size_t kMaxPasswordBytes = 1024;

// Thread-safe. hash() and verify() take tens of milliseconds and memory_bytes each, by design: never on a
// thread that serves sockets, and few at a time.
class PasswordHasher {
 public:
  explicit PasswordHasher(PasswordCost cost = kInteractivePasswordCost) : cost_(cost) {}

  // PASSWORD_TOO_LONG; OUT_OF_MEMORY when memory_bytes cannot be had, or the cost is below libsodium's least.
  Expected<std::string> hash(std::string_view password) const;
  // False for a wrong password, and for a stored text that is no argon2id hash.
  bool verify(std::string_view stored, std::string_view password) const;
  // Whether `stored` was made at another cost, or is no hash at all: hash anew after the next verified
  // sign-in.
  bool needs_rehash(std::string_view stored) const;

 private:
  PasswordCost cost_;
};

}  // namespace presetbridge::crypto
