// Why a login did not happen, or was refused.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/time.h"

namespace presetbridge::identity {

// An Error that may know when to come again: `retry_after` is there where it was too often (429), and is
// longer than nothing. `attempts_left` is there where attempts are counted, and is 0 after the last one.
struct LoginFailure : Error {
  LoginFailure(Error error, std::optional<Millis> wait = std::nullopt)
      : Error(std::move(error)), retry_after(wait) {}
  std::optional<Millis> retry_after;
  std::optional<std::size_t> attempts_left;
};
template <class T>
using LoginResult = std::expected<T, LoginFailure>;

// 429, in the seed's words (seed 7).
inline LoginFailure rate_limit_exceeded(Millis retry_after) {
  return {{"RATE_LIMIT_EXCEEDED", "Rate limit exceeded", {}}, retry_after};
}

}  // namespace presetbridge::identity
