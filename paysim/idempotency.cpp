#include "idempotency.h"

#include <chrono>
#include <utility>

namespace presetbridge::paysim {
namespace {

constexpr Millis kLife = std::chrono::hours{24};

}  // namespace

const IdempotencyKeys::Answer* IdempotencyKeys::find(const std::string& key, Timestamp now) {
  while (!order_.empty() && answers_.at(order_.front()).at + kLife <= now) forget_oldest();
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

void IdempotencyKeys::keep(const std::string& key, Answer answer) {
  const std::size_t size = answer.body.size();
  if (!answers_.emplace(key, std::move(answer)).second) return;
  bytes_ += size;
  order_.push_back(key);
  while (answers_.size() > most_ || bytes_ > most_bytes_) forget_oldest();
}

void IdempotencyKeys::forget_oldest() {
  const auto oldest = answers_.find(order_.front());
  bytes_ -= oldest->second.body.size();
  answers_.erase(oldest);
  order_.pop_front();
}

}  // namespace presetbridge::paysim
