// A shop's own truth about its orders, and the events that it sends.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "domain/order_event.h"
#include "history.h"

namespace presetbridge::simulation {

class Shop {
 public:
  // What happens, at `now`, in the shop; nothing if it cannot. The event is remembered, to be told again.
  std::optional<domain::OrderEvent> happens(const Command& command, Timestamp now);

 private:
  struct Order {
    bool direct = false;  // made by the merchant's program
    domain::OrderEvent state = {};
    int lines_made = 0;
    int refunds_made = 0;
    std::vector<domain::OrderEvent> events;
  };
  std::map<std::uint32_t, Order> orders_;
};

}  // namespace presetbridge::simulation
