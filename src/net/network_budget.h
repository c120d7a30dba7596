// Limits the failing requests of one client network (spec 8.6), so that a stranger cannot cause look-ups
// without end. Requests that succeed cost nothing.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/time.h"
#include "net/client_address.h"
#include "net/http.h"
#include "net/ip_address.h"
#include "net/key_budget.h"

namespace presetbridge::net {

// Thread-safe. In memory, of this process alone. Callers that may speak for others (Caller::for_others) are
// never counted, nor refused.
class NetworkBudget {
 public:
  struct Limits {
    std::int64_t failures = 0;  // 1 to the window's milliseconds
    Millis window{0};
    std::size_t networks = 20'000;  // remembered at most: KeyBudget::Limits::keys
  };
  // `proxies`: as of client_address(). `clock` outlives this.
  NetworkBudget(const Clock& clock, std::vector<IpNetwork> proxies, Limits limits)
      : proxies_(std::move(proxies)),
        budget_(clock, {.times = limits.failures, .window = limits.window, .keys = limits.networks}) {}

  // How long until a request of this one's network may fail again, the window at most; 0: now. Counts
  // nothing. Does not read the request unless some network had a failure in the last window.
  Millis wait(const HttpRequest& request);
  // A request that failed.
  void count(const HttpRequest& request);

  // The client's network (Caller::network).
  std::string network_of(const HttpRequest& request) const { return caller_of(request, proxies_).network; }

  std::size_t networks() const { return budget_.keys(); }

 private:
  const std::vector<IpNetwork> proxies_;
  KeyBudget budget_;
};

}  // namespace presetbridge::net
