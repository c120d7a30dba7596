#include "storage/stores/order_list.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/id_time.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

#define PDB_LISTED_COLUMNS                                                                              \
  "id, integration_id, order_key, outcome, unmapped, received_at, updated_at, order_number, username, " \
  "email, line_count, marks, listed_at, number_key"
#define PDB_LIST "SELECT " PDB_LISTED_COLUMNS " FROM orders WHERE account_id = $1 AND "
#define PDB_DOWN "id < $2 ORDER BY id DESC LIMIT $3"
#define PDB_UP "id > $2 ORDER BY id LIMIT $3"

constexpr Sql kNewest{PDB_LIST PDB_DOWN};
constexpr Sql kNewestUnmapped{PDB_LIST "unmapped > 0 AND " PDB_DOWN};
constexpr Sql kNewestOfOutcome{PDB_LIST "outcome <> 'delivery' AND outcome = $4 AND " PDB_DOWN};
// Past the account's last order those of the next follow: in the order of ids alone PostgreSQL would go
// through the orders of all.
constexpr Sql kOldest{"SELECT " PDB_LISTED_COLUMNS
                      ", account_id FROM orders WHERE (account_id, id) > ($1, $2) ORDER BY account_id, id "
                      "LIMIT $3"};
constexpr Sql kOldestUnmapped{PDB_LIST "unmapped > 0 AND " PDB_UP};
constexpr Sql kOldestOfOutcome{PDB_LIST "outcome <> 'delivery' AND outcome = $4 AND " PDB_UP};
constexpr Sql kById{PDB_LIST "id = $2"};
constexpr Sql kByNumber{
    PDB_LIST "number_key <> '' AND number_key >= $2 AND number_key < $3 ORDER BY number_key LIMIT $4"};
constexpr Sql kByKey{
    "SELECT " PDB_LISTED_COLUMNS
    " FROM orders WHERE account_id = $1 AND id IN"
    " (SELECT orders.id FROM integrations JOIN orders ON orders.integration_id = integrations.id"
    " WHERE integrations.account_id = $1 AND orders.order_key = $2)"};
constexpr Sql kMarks{"SELECT marks, listed_at, updated_at FROM orders WHERE id = $1"};
constexpr Sql kState{"SELECT state FROM orders WHERE id = $1"};
constexpr Sql kUnlisted{
    "SELECT id, state, updated_at FROM orders WHERE listed_at <> updated_at AND id > $1 ORDER BY id LIMIT "
    "$2"};
constexpr Sql kSetListed{
    "UPDATE orders SET order_number = $3, username = $4, email = $5, line_count = $6, marks = $7,"
    " number_key = $8, listed_at = $2 WHERE id = $1 AND updated_at = $2"};

constexpr int kLookedThrough = 5'000;
constexpr int kCounted = 10'000;
constexpr int kPiece = 500;
// Of one beginning of a number; more are looked through like all others.
constexpr int kMostOfNumber = 500;
// Sorts behind every text that begins like it.
constexpr std::string_view kLastCharacter = "\xF4\x8F\xBF\xBF";
// A row's id may be made this long before or after the time that the database takes for it.
constexpr Millis kClocksDiffer{60'000};

struct Candidate {
  ListedOrder order;
  std::string number_key;
};

Candidate read_candidate(const Row& r) {
  Candidate c;
  c.order = {.id = r.id<OrderId>(0),
             .integration = r.id<IntegrationId>(1),
             .order_key = r.string(2),
             .outcome = domain::read_order_outcome(r.text(3)),
             .unmapped = r.int64(4),
             .received_at = r.time(5),
             .updated_at = r.time(6),
             .summary = {.number = r.string_or_empty(7),
                         .username = r.string(8),
                         .email = r.string(9),
                         .lines = r.int64(10),
                         .marks = domain::OrderMarks(r.int64(11))},
             .listed = r.time(12) == r.time(6)};
  c.number_key = r.string(13);
  return c;
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Nothing: the text is no id of an order or a delivery.
std::optional<OrderId> id_of(std::string_view text) {
  if (const auto id = parse_id<OrderKind>(text)) return id;
  if (const auto id = parse_id<DeliveryKind>(text)) return OrderId{id->value};
  return std::nullopt;
}

bool finds(const OrderSearch& search, const Candidate& c) {
  switch (search.kind) {
    case OrderSearch::Kind::none:
      return true;
    case OrderSearch::Kind::id:
      return id_of(search.text) == c.order.id;
    case OrderSearch::Kind::number: {
      const auto key = domain::order_number_key(search.text);
      return c.order.order_key == search.text || (!key.empty() && c.number_key.starts_with(key));
    }
    case OrderSearch::Kind::username:
      return small(c.order.summary.username).starts_with(search.text);
    case OrderSearch::Kind::email:
      return small(c.order.summary.email).starts_with(search.text);
  }
  return false;
}

bool fits(const OrderFilter& f, const Candidate& c, const OrderShown& shown) {
  const auto& o = c.order;
  return (!f.outcome || o.outcome == f.outcome) && (!f.integration || o.integration == f.integration) &&
         (!f.unmapped || o.unmapped > 0) && (!f.received_from || o.received_at >= *f.received_from) &&
         (!f.received_before || o.received_at < *f.received_before) && finds(f.search, c) && shown(o);
}

bool has_delivery(const OrderFilter& f) {
  return f.outcome == domain::OrderOutcome::delivery;
}

std::vector<Candidate> down(Tx& tx, const OrderFilter& f, std::int64_t before, int limit) {
  std::vector<Candidate> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_candidate(r)); };
  if (f.outcome && !has_delivery(f)) {
    tx.query(kNewestOfOutcome, f.account, before, limit, to_string(*f.outcome), add);
  } else if (f.unmapped) {
    tx.query(kNewestUnmapped, f.account, before, limit, add);
  } else {
    tx.query(kNewest, f.account, before, limit, add);
  }
  return rows;
}

std::vector<Candidate> up(Tx& tx, const OrderFilter& f, OrderId after, int limit) {
  std::vector<Candidate> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_candidate(r)); };
  if (f.outcome && !has_delivery(f)) {
    tx.query(kOldestOfOutcome, f.account, after, limit, to_string(*f.outcome), add);
  } else if (f.unmapped) {
    tx.query(kOldestUnmapped, f.account, after, limit, add);
  } else {
    tx.query(kOldest, f.account, after, limit, [&](const Row& r) {
      if (r.id<AccountId>(14) == f.account) add(r);
    });
  }
  return rows;
}

// Those that an index finds by the search; nothing: there are too many, or there is no such index.
std::optional<std::vector<Candidate>> found_by_index(Tx& tx, const OrderFilter& f) {
  std::vector<Candidate> rows;
  const auto add = [&](const Row& r) { rows.push_back(read_candidate(r)); };
  if (f.search.kind == OrderSearch::Kind::id) {
    if (const auto id = id_of(f.search.text)) tx.query(kById, f.account, *id, add);
    return rows;
  }
  if (f.search.kind != OrderSearch::Kind::number) return std::nullopt;
  if (const auto key = domain::order_number_key(f.search.text); !key.empty()) {
    tx.query(kByNumber, f.account, key, key + std::string(kLastCharacter), kMostOfNumber + 1, add);
    if (std::ssize(rows) > kMostOfNumber) return std::nullopt;
  }
  tx.query(kByKey, f.account, f.search.text, add);
  std::ranges::sort(rows, std::greater{}, [](const Candidate& c) { return c.order.id; });
  const auto twice = std::ranges::unique(rows, {}, [](const Candidate& c) { return c.order.id; });
  rows.erase(twice.begin(), twice.end());
  return rows;
}

std::int64_t id_of(const ListedOrder& order) {
  return order.id.value;
}

// The times of a filter as ids.
std::int64_t end_of(const OrderFilter& f, std::int64_t before) {
  return f.received_before ? std::min(before, first_id_at(*f.received_before + kClocksDiffer)) : before;
}
std::int64_t begin_of(const OrderFilter& f) {
  return f.received_from ? first_id_at(*f.received_from - kClocksDiffer) : 0;
}

}  // namespace

OrderSearch read_search(Tx& tx, AccountId account, std::string_view text) {
  using Kind = OrderSearch::Kind;
  if (text.empty()) return {};
  if (id_of(text)) return {Kind::id, std::string(text)};
  if (text.starts_with('@')) return {Kind::username, small(text.substr(1))};
  if (text.contains('@')) return {Kind::email, small(text)};
  bool any = false;
  const auto see = [&](const Row&) { any = true; };
  if (const auto key = domain::order_number_key(text); !key.empty())
    tx.query(kByNumber, account, key, key + std::string(kLastCharacter), 1, see);
  if (!any) tx.query(kByKey, account, text, see);
  if (any) return {Kind::number, std::string(text)};
  return {Kind::username, small(text)};
}

Page<ListedOrder> list_orders(Tx& tx, const OrderFilter& filter, const PageRequest& request,
                              const OrderShown& shown) {
  std::vector<ListedOrder> found;
  if (auto rows = found_by_index(tx, filter)) {
    for (auto& row : *rows) {
      if (row.order.id.value < request.before && fits(filter, row, shown))
        found.push_back(std::move(row.order));
    }
    return make_page(std::move(found), request, [](const ListedOrder& order) { return id_of(order); });
  }
  std::int64_t before = end_of(filter, request.before);
  const std::int64_t begin = begin_of(filter);
  for (int looked = 0; looked < kLookedThrough; looked += kPiece) {
    // Without a filter the first piece is the page.
    const int limit = looked == 0 ? request.fetch() : kPiece;
    auto rows = down(tx, filter, before, limit);
    const bool last = std::ssize(rows) < limit || rows.back().order.id.value < begin;
    if (!rows.empty()) before = rows.back().order.id.value;
    for (auto& row : rows) {
      if (fits(filter, row, shown)) found.push_back(std::move(row.order));
    }
    if (last || std::ssize(found) > request.limit)
      return make_page(std::move(found), request, [](const ListedOrder& order) { return id_of(order); });
  }
  return {std::move(found), before};
}

OrderCount count_orders(Tx& tx, const OrderFilter& filter, Timestamp as_of, const OrderShown& shown) {
  OrderCount count;
  OrderId after;
  for (int looked = 0; looked < kCounted; looked += kPiece) {
    const auto piece = walk_orders(tx, filter, after, as_of, kPiece, shown);
    count.orders += std::ssize(piece.orders);
    if (!piece.next) return count;
    after = *piece.next;
  }
  count.exact = false;
  return count;
}

OrderWalk walk_orders(Tx& tx, const OrderFilter& filter, OrderId after, Timestamp as_of, int limit,
                      const OrderShown& shown) {
  const OrderId end{end_of(filter, first_id_at(as_of))};
  const auto rows = up(tx, filter, std::max(after, OrderId{begin_of(filter) - 1}), limit);
  OrderWalk walk;
  for (const auto& row : rows) {
    // Not in the statement: PostgreSQL would take a range of ids for better than the account's index.
    if (row.order.id >= end) return walk;
    if (fits(filter, row, shown)) walk.orders.push_back(row.order.id);
  }
  if (std::ssize(rows) == limit) walk.next = rows.back().order.id;
  return walk;
}

std::optional<domain::OrderMarks> find_order_marks(Tx& tx, OrderId id) {
  struct Found {
    domain::OrderMarks marks;
    bool listed;
  };
  const auto found = tx.one(
      kMarks, id, [](const Row& r) { return Found{domain::OrderMarks(r.int64(0)), r.time(1) == r.time(2)}; });
  if (!found || found->listed) return found ? std::optional(found->marks) : std::nullopt;
  const auto state = tx.one(kState, id, [](const Row& r) { return domain::decode_order_state(r.text(0)); });
  if (!state) return std::nullopt;
  if (!*state) throw Error(state->error());
  return domain::summarise(**state).marks;
}

ListedPiece list_orders_of_before(Tx& tx, std::int64_t after, int limit) {
  ListedPiece piece;
  std::vector<OrderId> ids;
  std::vector<std::int64_t> of;
  std::vector<domain::OrderSummary> summaries;
  std::vector<std::string> keys;
  tx.query(kUnlisted, after, limit, [&](const Row& r) {
    ids.push_back(r.id<OrderId>(0));
    of.push_back(r.int64(2));
    // What cannot be read has nothing to show; it is not met again.
    const auto state = domain::decode_order_state(r.text(1));
    summaries.push_back(state ? domain::summarise(*state) : domain::OrderSummary{});
    keys.push_back(domain::order_number_key(summaries.back().number));
  });
  std::vector<Param> flat;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& s = summaries[i];
    flat.insert(flat.end(),
                {ids[i], of[i], s.number, s.username, s.email, s.lines, s.marks.stored(), keys[i]});
  }
  if (!ids.empty()) tx.update_each(kSetListed, 8, flat);
  piece.orders = std::ssize(ids);
  if (std::ssize(ids) == limit) piece.next = ids.back().value;
  return piece;
}

}  // namespace presetbridge::storage
