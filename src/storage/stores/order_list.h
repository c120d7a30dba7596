// Lists, searches and walks over an account's orders (spec 9.3), from what the rows tell without their
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
  // False: a program of before wrote the row last, and the summary is read from the state where it is shown;
  // no search finds it by its summary until housekeeping has been there.
  bool listed = true;
};

// What somebody typed to find orders by.
struct OrderSearch {
  enum class Kind {
    none,      // all
    id,        // `text` is ord_… or del_…
    number,    // the beginning of the number, or the whole of the store's order id
    username,  // the beginning; ASCII letters of either size
    email,     // likewise
  };
  Kind kind = Kind::none;
  std::string text = {};
  bool operator==(const OrderSearch&) const = default;
};
// An id, an e-mail address (@ inside), a username (@ in front), a number or order id that an order of the
// account has; else a username. The empty text finds all.
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
// Whether an order that is not left out of lists is to be seen by who asks.
using OrderShown = std::function<bool(const ListedOrder&)>;

// One page, newest first. By id, number, `unmapped` or an outcome other than delivery it is found by an
// index; else, and for what these leave, the newest 5,000 before the cursor are looked through: a page may
// then hold fewer rows than its limit, even none, and still name a next one.
Page<ListedOrder> list_orders(Tx& tx, const OrderFilter& filter, const PageRequest& page,
                              const OrderShown& shown);

struct OrderCount {
  std::int64_t orders = 0;
  bool exact = true;  // false: there were more to look at
};
// Of those made before `as_of`; looks at 10,000 at most.
OrderCount count_orders(Tx& tx, const OrderFilter& filter, Timestamp as_of, const OrderShown& shown);

// A piece of the way through those that fit, oldest first: of the next `limit` after `after` that were made
// before `as_of`.
struct OrderWalk {
  std::vector<OrderId> orders;
  std::optional<OrderId> next;  // where the next piece goes on; nothing: this was the last
};
OrderWalk walk_orders(Tx& tx, const OrderFilter& filter, OrderId after, Timestamp as_of, int limit,
                      const OrderShown& shown);

// What is marked on the order, from its state alone where a program of before wrote the row last. Nothing:
// there is no such order. Throws what decode_order_state() tells of a damaged state.
std::optional<domain::OrderMarks> find_order_marks(Tx& tx, OrderId id);

// What lists show of orders that a program of before wrote, read from their states: of the first `limit`
// after `after`. Returns the last of them; nothing: there are no more.
struct ListedPiece {
  std::int64_t orders = 0;
  std::optional<std::int64_t> next;
};
ListedPiece list_orders_of_before(Tx& tx, std::int64_t after, int limit);

}  // namespace presetbridge::storage
