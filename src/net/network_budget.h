// How many requests of one client network may fail (spec 8.6), so that a stranger cannot have the service
// look things up for ever: so many at once, and they come back evenly over a window. What succeeds costs
// nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/time.h"
#include "net/client_address.h"
#include "net/http.h"
#include "net/ip_address.h"

namespace presetbridge::net {

// Thread-safe. In memory, of this process alone. Callers that may speak for others (Caller::for_others) are
// never counted, nor refused.
class NetworkBudget {
 public:
  struct Limits {
    std::int64_t failures = 0;  // 1 to the window's milliseconds
    Millis window{0};
    // Networks remembered at most. Beyond them those that failed longest ago are forgotten, half at a time.
    std::size_t networks = 20'000;
  };
  // `proxies`: as of client_address(). `clock` outlives this.
  NetworkBudget(const Clock& clock, std::vector<IpNetwork> proxies, Limits limits)
      : clock_(clock), proxies_(std::move(proxies)), limits_(limits) {}

  // How long until a request of this one's network may fail again, the window at most; 0: now. Counts
  // nothing. Without a failure in the last window, of anybody, it does not look at the request.
  Millis wait(const HttpRequest& request);
  // A request that failed. Beyond the budget (of requests that ran at once) it makes nobody wait longer.
  void count(const HttpRequest& request);

  std::size_t networks() const;  // remembered at this moment

 private:
  using Networks = std::unordered_map<std::string, Timestamp>;  // to when all of the budget is there again
  void forget_old(Timestamp now);

  const Clock& clock_;
  const std::vector<IpNetwork> proxies_;
  const Limits limits_;
  mutable std::mutex mutex_;
  // A network is in that of its newest failure. What is in `former_` for a window has all of its budget
  // again.
  Networks recent_;
  Networks former_;
  Timestamp turned_at_;
  std::atomic<bool> any_{false};
};

}  // namespace presetbridge::net
