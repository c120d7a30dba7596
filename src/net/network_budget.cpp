#include "net/network_budget.h"

namespace presetbridge::net {

Millis NetworkBudget::wait(const HttpRequest& request) {
  if (!budget_.any()) return Millis{0};
  const auto caller = caller_of(request, proxies_);
  return caller.for_others ? Millis{0} : budget_.wait(caller.network);
}

void NetworkBudget::count(const HttpRequest& request) {
  auto caller = caller_of(request, proxies_);
  if (!caller.for_others) budget_.count(std::move(caller.network));
}

}  // namespace presetbridge::net
