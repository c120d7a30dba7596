#include "storage/stores/order_list.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/id_time.h"
#include "storage/row_columns.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

struct Candidate {
  ListedOrder order;
  Timestamp listed_at;
  std::string number_key;
};

constexpr std::tuple kColumns{
    Column{"id", [](auto& c) -> auto& { return c.order.id; }},
    Column{"integration_id", [](auto& c) -> auto& { return c.order.integration; }},
    Column{"order_key", [](auto& c) -> auto& { return c.order.order_key; }},
    Column{"outcome", [](auto& c) -> auto& { return c.order.outcome; },
           kNamedOrUnknown<domain::read_order_outcome>},
    Column{"unmapped", [](auto& c) -> auto& { return c.order.unmapped; }},
    Column{"received_at", [](auto& c) -> auto& { return c.order.received_at; }},
    Column{"updated_at", [](auto& c) -> auto& { return c.order.updated_at; }},
    Column{"order_number", [](auto& c) -> auto& { return c.order.summary.number; }, kNullIsEmpty},
    Column{"username", [](auto& c) -> auto& { return c.order.summary.username; }},
    Column{"email", [](auto& c) -> auto& { return c.order.summary.email; }},
    Column{"line_count", [](auto& c) -> auto& { return c.order.summary.lines; }},
    Column{"marks", [](auto& c) -> auto& { return c.order.summary.marks; }},
    Column{"listed_at", &Candidate::listed_at},
    Column{"number_key", &Candidate::number_key},
};
constexpr auto kAccountColumn = static_cast<int>(kSelectedAt<kColumns>.size());  // of kOldest

Candidate read_candidate(const Row& r) {
  auto c = read_row<Candidate, kColumns>(r);
  c.order.listed = c.listed_at == c.order.updated_at;
  return c;
}

constexpr Text kOfAccount = " FROM orders WHERE account_id = $1 AND ";
constexpr Text kDown = "id < $2 ORDER BY id DESC LIMIT $3";
constexpr Text kUp = "id > $2 ORDER BY id LIMIT $3";
constexpr Text kUnmapped = "unmapped > 0 AND ";
constexpr Text kOutcome = "outcome <> 'delivery' AND outcome = $4 AND ";

constexpr Sql kNewest = sql<"SELECT ", kSelected<kColumns>, kOfAccount, kDown>;
constexpr Sql kNewestUnmapped = sql<"SELECT ", kSelected<kColumns>, kOfAccount, kUnmapped, kDown>;
constexpr Sql kNewestOfOutcome = sql<"SELECT ", kSelected<kColumns>, kOfAccount, kOutcome, kDown>;
// After the account's last order those of the next account follow: by ids alone PostgreSQL would read the
// orders of all accounts.
constexpr Sql kOldest = sql<"SELECT ", kSelected<kColumns>,
                            ", account_id FROM orders WHERE (account_id, id) > ($1, $2)"
                            " ORDER BY account_id, id LIMIT $3">;
constexpr Sql kOldestUnmapped = sql<"SELECT ", kSelected<kColumns>, kOfAccount, kUnmapped, kUp>;
constexpr Sql kOldestOfOutcome = sql<"SELECT ", kSelected<kColumns>, kOfAccount, kOutcome, kUp>;
constexpr Sql kById = sql<"SELECT ", kSelected<kColumns>, kOfAccount, "id = $2">;
constexpr Sql kByNumber =
    sql<"SELECT ", kSelected<kColumns>, kOfAccount,
        "number_key <> '' AND number_key >= $2 AND number_key < $3 ORDER BY number_key LIMIT $4">;
constexpr Sql kByKey =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM orders WHERE account_id = $1 AND id IN"
        " (SELECT orders.id FROM integrations JOIN orders ON orders.integration_id = integrations.id"
        " WHERE integrations.account_id = $1 AND orders.order_key = $2)">;
constexpr Sql kMarks{"SELECT marks, listed_at, updated_at FROM orders WHERE id = $1"};
constexpr Sql kState{"SELECT state FROM orders WHERE id = $1"};
constexpr Sql kUnlisted{
    "SELECT id, state, updated_at FROM orders WHERE listed_at <> updated_at AND id > $1 ORDER BY id LIMIT "
    "$2"};
constexpr Sql kSetListed{
    "UPDATE orders SET order_number = $3, username = $4, email = $5, line_count = $6, marks = $7,"
    " number_key = $8, listed_at = $2 WHERE id = $1 AND updated_at = $2"};

constexpr int kScanLimit = 5'000;
constexpr int kCounted = 10'000;
constexpr int kBatch = 500;
// The most orders with one beginning of a number that are found by the index; if there are more, all are
// searched.
constexpr int kMostOfNumber = 500;
// Sorts behind every text that begins like it.
constexpr std::string_view kLastCharacter = "\xF4\x8F\xBF\xBF";
// A row's id may be made this long before or after the time that the database takes for it.
constexpr Millis kClocksDiffer{60'000};

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
      return lowered(c.order.summary.username).starts_with(search.text);
    case OrderSearch::Kind::email:
      return lowered(c.order.summary.email).starts_with(search.text);
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
      if (r.id<AccountId>(kAccountColumn) == f.account) add(r);
    });
  }
  return rows;
}

// The orders that an index finds by the search; nothing: there are too many, or there is no such index.
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
  if (text.starts_with('@')) return {Kind::username, lowered(text.substr(1))};
  if (text.contains('@')) return {Kind::email, lowered(text)};
  bool any = false;
  const auto see = [&](const Row&) { any = true; };
  if (const auto key = domain::order_number_key(text); !key.empty())
    tx.query(kByNumber, account, key, key + std::string(kLastCharacter), 1, see);
  if (!any) tx.query(kByKey, account, text, see);
  if (any) return {Kind::number, std::string(text)};
  return {Kind::username, lowered(text)};
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
  for (int scanned = 0; scanned < kScanLimit; scanned += kBatch) {
    // Without a filter the first batch is the page.
    const int limit = scanned == 0 ? request.fetch() : kBatch;
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
  for (int scanned = 0; scanned < kCounted; scanned += kBatch) {
    const auto batch = walk_orders(tx, filter, after, as_of, kBatch, shown);
    count.orders += std::ssize(batch.orders);
    if (!batch.next) return count;
    after = *batch.next;
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
    // Not in the statement: PostgreSQL would prefer a range of ids to the account's index.
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

ListedBatch list_orders_of_before(Tx& tx, std::int64_t after, int limit) {
  ListedBatch batch;
  std::vector<OrderId> ids;
  std::vector<std::int64_t> of;
  std::vector<domain::OrderSummary> summaries;
  std::vector<std::string> keys;
  tx.query(kUnlisted, after, limit, [&](const Row& r) {
    ids.push_back(r.id<OrderId>(0));
    of.push_back(r.int64(2));
    // A state that cannot be read gives an empty summary, so that the order is not found again here.
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
  batch.orders = std::ssize(ids);
  if (std::ssize(ids) == limit) batch.next = ids.back().value;
  return batch;
}

}  // namespace presetbridge::storage
