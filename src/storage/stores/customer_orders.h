// An account's orders of one person, by an e-mail address or a username (spec 9.6).
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/stores/order_list.h"

namespace presetbridge::storage {

// The person whose orders are searched: one of these names, whole, whatever the case. A name of which
// folding leaves nothing is nobody's.
struct CustomerName {
  std::string email;
  std::string username;
  bool everybody = false;  // the names do not count
};

// A batch of the orders that have, or whose deliveries have or had, one of the names, oldest first: among
// the account's next `limit` orders with ids after `after` that were made before `as_of`. Erased orders
// have no name.
OrderWalk walk_customer_orders(Tx& tx, AccountId account, const CustomerName& who, OrderId after,
                               Timestamp as_of, int limit);

}  // namespace presetbridge::storage
