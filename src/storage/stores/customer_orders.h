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

// A batch of the person's orders, oldest first: among the account's next `limit` orders with ids after
// `after` that were made before `as_of`. An order is the person's by the address that it or its delivery has,
// by the username of its delivery, and by its own username where there is no delivery (or a nameless one), or
// where that user got a file. So a name of the store's that was corrected before it got a file finds nothing:
// it may be a stranger's. Erased orders have no name.
OrderWalk walk_customer_orders(Tx& tx, AccountId account, const CustomerName& who, OrderId after,
                               Timestamp as_of, int limit);

}  // namespace presetbridge::storage
