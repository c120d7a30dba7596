// What was asked of the simulator, call by call: the newest ones, and counts of all.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/time.h"
#include "faults.h"

namespace presetbridge::cloudsim {

struct LoggedCall {
  std::uint64_t number = 0;  // from 1, in order of arrival
  Timestamp arrived;
  Endpoint endpoint{};
  std::string merchant;  // user id; empty before the answer, and where nobody was authenticated
  std::string target;    // path and query as received
  Fault fault{};
  int status = 0;  // of the answer; 0: none yet, or dropped
};

class CallLog {
 public:
  explicit CallLog(std::size_t capacity) : capacity_(capacity) {}

  std::uint64_t arrive(Timestamp now, Endpoint endpoint, std::string target, Fault fault) {
    calls_.push_back({++last_, now, endpoint, "", std::move(target), fault, 0});
    if (calls_.size() > capacity_) calls_.pop_front();
    return last_;
  }
  // status 0: the connection was dropped.
  void end(std::uint64_t number, Endpoint endpoint, const std::string& merchant, int status) {
    ++counts_[static_cast<std::size_t>(endpoint)][status];
    const std::uint64_t first = last_ - calls_.size() + 1;
    if (number < first) return;  // too old, or of before clear()
    LoggedCall& call = calls_[number - first];
    call.merchant = merchant;
    call.status = status;
  }

  void clear() {
    calls_.clear();
    counts_ = {};
  }

  const std::deque<LoggedCall>& calls() const { return calls_; }
  // Ended calls of an endpoint, by status.
  const std::map<int, std::int64_t>& counts(Endpoint endpoint) const {
    return counts_[static_cast<std::size_t>(endpoint)];
  }

 private:
  const std::size_t capacity_;
  std::uint64_t last_ = 0;
  std::deque<LoggedCall> calls_;
  std::array<std::map<int, std::int64_t>, kEndpoints> counts_;
};

}  // namespace presetbridge::cloudsim
