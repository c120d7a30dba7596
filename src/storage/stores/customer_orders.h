// An account's orders of one person, by an e-mail address or a username (spec 9.6).
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/stores/order_list.h"

namespace presetbridge::storage {

// Whose orders: with one of these names, whole, whatever the case. A name of which nothing is left when it is
// folded is nobody's.
struct CustomerName {
  std::string email;
  std::string username;
  bool everybody = false;  // the names do not count
};

// A piece of the way through the orders that have, or whose deliveries have or had, one of the names, oldest
// first: of the account's next `limit` after `after` that were made before `as_of`. Those that were erased
// have none.
OrderWalk walk_customer_orders(Tx& tx, AccountId account, const CustomerName& who, OrderId after,
                               Timestamp as_of, int limit);

}  // namespace presetbridge::storage
