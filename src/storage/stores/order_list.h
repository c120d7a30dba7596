// Lists, searches and walks over an account's orders (spec 9.3), from the columns of the rows without their
// states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "domain/order_summary.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct ListedOrder {
  OrderId id;
  IntegrationId integration;
  std::string order_key;
  domain::OrderOutcome outcome = domain::OrderOutcome::stopped;
  std::int64_t unmapped = 0;
  Timestamp received_at;
  Timestamp updated_at;
  domain::OrderSummary summary;
  // False: an older program wrote the row last. Then the summary is read from the state where it is shown,
  // and no search finds the order by its summary until housekeeping has updated it.
  bool listed = true;
};

// The text of a search, and what it is.
struct OrderSearch {
  enum class Kind {
    none,      // all
    id,        // `text` is ord_… or del_…
    number,    // the beginning of the number, or the whole of the store's order id
    username,  // the beginning; ASCII letters of either size
    email,     // the beginning; ASCII letters of either size
  };
  Kind kind = Kind::none;
  std::string text = {};
  bool operator==(const OrderSearch&) const = default;
};
// Reads a text as an id, an e-mail address (@ inside), a username (@ in front), or a number or order id
// that an order of the account has; else as a username. The empty text finds all.
OrderSearch read_search(Tx& tx, AccountId account, std::string_view text);

struct OrderFilter {
  AccountId account;
  std::optional<domain::OrderOutcome> outcome;  // nothing: all
  IntegrationId integration;
  bool unmapped = false;  // only those with a line without a mapping
  OrderSearch search;
  std::optional<Timestamp> received_from;
  std::optional<Timestamp> received_before;
};
// Whether the caller may see an order that the filter finds.
using OrderShown = std::function<bool(const ListedOrder&)>;

// One page, newest first. An id, a number, `unmapped` and an outcome other than delivery are found by an
// index; any other filter is checked on the newest 5,000 orders before the cursor, or of those that the
// index finds: a page may then have fewer rows than its limit, even none, and still have a next one.
Page<ListedOrder> list_orders(Tx& tx, const OrderFilter& filter, const PageRequest& page,
                              const OrderShown& shown);

struct OrderCount {
  std::int64_t orders = 0;
  bool exact = true;  // false: there were more to read
};
// Counts the orders that were made before `as_of`; reads 10,000 at most.
OrderCount count_orders(Tx& tx, const OrderFilter& filter, Timestamp as_of, const OrderShown& shown);

// A batch of the orders that fit, oldest first: among the next `limit` with ids after `after` that were
// made before `as_of`.
struct OrderWalk {
  std::vector<OrderId> orders;
  std::optional<OrderId> next;  // `after` of the next batch; nothing: this was the last
};
OrderWalk walk_orders(Tx& tx, const OrderFilter& filter, OrderId after, Timestamp as_of, int limit,
                      const OrderShown& shown);

// The marks of the order, from its state where an older program wrote the row last. Nothing: there is no
// such order. Throws the error of decode_order_state() for a damaged state.
std::optional<domain::OrderMarks> find_order_marks(Tx& tx, OrderId id);

// Writes the summaries of orders that an older program wrote last, from their states: of the first `limit`
// with ids after `after`. `next` is the last of these ids; nothing: there are no more.
struct ListedBatch {
  std::int64_t orders = 0;
  std::optional<std::int64_t> next;
};
ListedBatch list_orders_of_before(Tx& tx, std::int64_t after, int limit);

}  // namespace presetbridge::storage
