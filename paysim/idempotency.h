// What was answered to a request with an Idempotency-Key, so that its repetition does nothing more.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"
#include "crypto/digest.h"

namespace presetbridge::paysim {

// Keys live for 24 hours; the oldest gives way when there are too many, or too many bytes. Not thread-safe.
class IdempotencyKeys {
 public:
  struct Answer {
    crypto::Sha256 request;  // of method, path and body
    int status = 200;
    std::string body;
    Timestamp at;
  };

  explicit IdempotencyKeys(std::size_t most = 50'000, std::size_t most_bytes = 64UL * 1024 * 1024)
      : most_(most), most_bytes_(most_bytes) {}

  // nullptr: the key is new.
  const Answer* find(const std::string& key, Timestamp now);
  void keep(const std::string& key, Answer answer);

 private:
  void forget_oldest();

  const std::size_t most_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Answer> answers_;
  std::deque<std::string> order_;
};

}  // namespace presetbridge::paysim
