#include "storage/stores/privacy_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/names.h"
#include "storage/row_columns.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"customer_redact", "shop_redact", "data_request"};

std::optional<PrivacyKind> parse_privacy_kind(std::string_view name) {
  return domain::parse_name<PrivacyKind>(kKindNames, name);
}

constexpr std::tuple kColumns{
    Column{"id", &PrivacyRequestRow::id},
    Column{"account_id", &PrivacyRequestRow::account},
    Column{"integration_id", &PrivacyRequestRow::integration},
    Column{"kind", &PrivacyRequestRow::kind, kNamed<parse_privacy_kind>},
    Column{"received_at", &PrivacyRequestRow::received_at},
    Column{"orders", &PrivacyRequestRow::orders},
    Column{"done_to", &PrivacyRequestRow::done_to},
    Column{"carried_out_at", &PrivacyRequestRow::carried_out_at},
    Column{"closed_at", &PrivacyRequestRow::closed_at},
    Column{"closed_by", &PrivacyRequestRow::closed_by, kEmptyIsNull},
};
constexpr auto read_request = read_row<PrivacyRequestRow, kColumns>;

constexpr Sql kInsert{
    "INSERT INTO privacy_requests (id, account_id, integration_id, kind, request_key, received_at, orders)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (integration_id, request_key) DO NOTHING"};
constexpr Sql kMakeWay{
    "UPDATE privacy_requests SET request_key = $3 WHERE integration_id = $1 AND request_key = $2"
    " AND kind = 'shop_redact' AND carried_out_at IS NOT NULL"};
constexpr Sql kFindByKey = sql<"SELECT ", kSelected<kColumns>,
                               " FROM privacy_requests WHERE integration_id = $1 AND request_key = $2">;
constexpr Sql kEnd{
    "UPDATE privacy_requests SET carried_out_at = $2 WHERE id = $1 AND carried_out_at IS NULL"};
constexpr Sql kLockShop = sql<"SELECT ", kSelected<kColumns>,
                              " FROM privacy_requests WHERE carried_out_at IS NULL AND kind = 'shop_redact'"
                              " AND id > $1 ORDER BY id LIMIT 1 <lock>">;
constexpr Sql kAdvance{"UPDATE privacy_requests SET orders = $2, done_to = $3 WHERE id = $1"};
constexpr Sql kList =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM privacy_requests WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3">;
constexpr Sql kListOpen =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM privacy_requests WHERE account_id = $1 AND closed_at IS NULL AND id < $2 "
        "ORDER BY id DESC LIMIT $3">;
constexpr Sql kFind =
    sql<"SELECT ", kSelected<kColumns>, " FROM privacy_requests WHERE id = $1 AND account_id = $2">;
constexpr int kScanLimit = 5'000;
constexpr int kBatch = 500;
constexpr Sql kClose{
    "UPDATE privacy_requests SET closed_at = $3, closed_by = $4"
    " WHERE id = $1 AND account_id = $2 AND closed_at IS NULL"};

constexpr Sql kInsertNamed{
    "INSERT INTO privacy_request_orders (request_id, number, order_key) VALUES ($1, $2, $3)"
    " ON CONFLICT (request_id, number) DO NOTHING"};
constexpr Sql kListNamed{
    "SELECT number, order_key FROM privacy_request_orders WHERE request_id = $1 AND number < $2"
    " ORDER BY number DESC LIMIT $3"};
constexpr Sql kFindNamed{"SELECT id, outcome FROM orders WHERE integration_id = $1 AND order_key = $2"};

}  // namespace

std::string_view to_string(PrivacyKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

PrivacyRequestRow add_privacy_request(Tx& tx, const PrivacyRequestRow& row, Blob key) {
  if (row.kind == PrivacyKind::shop_redact) {
    std::vector<std::byte> another(key.begin(), key.end());
    for (const char c : to_string(row.id)) another.push_back(static_cast<std::byte>(c));
    tx.exec(kMakeWay, row.integration, key, another);
  }
  tx.exec(kInsert, row.id, row.account, row.integration, to_string(row.kind), key, row.received_at,
          row.orders);
  return tx.one(kFindByKey, row.integration, key, read_request).value();
}

void end_privacy_request(Tx& tx, PrivacyRequestId id) {
  tx.exec(kEnd, id, tx.now());
}

void add_orders_named(Tx& tx, PrivacyRequestId id, std::span<const std::string> order_keys) {
  const auto stored = order_keys.first(std::min(order_keys.size(), kMostOrdersNamed));
  std::vector<Param> flat;
  flat.reserve(3 * stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i)
    flat.insert(flat.end(), {id, static_cast<std::int64_t>(stored.size() - i), stored[i]});
  tx.exec_many(kInsertNamed, 3, flat);
}

Page<OrderNamed> list_orders_named(Tx& tx, const PrivacyRequestRow& request, const PageRequest& page) {
  std::vector<OrderNamed> named;
  tx.query(kListNamed, request.id, page.before, page.fetch(),
           [&](const Row& r) { named.push_back({.number = r.int64(0), .order_key = r.string(1)}); });
  auto found = make_page(std::move(named), page, [](const OrderNamed& one) { return one.number; });
  std::vector<Param> keys;
  for (const auto& one : found.rows) keys.insert(keys.end(), {request.integration, one.order_key});
  std::vector<OrderId> orders;
  std::vector<OrderNamed*> known;
  tx.query_each(kFindNamed, 2, keys, [&](std::size_t n, const Row& r) {
    auto& one = found.rows[n];
    one.order = r.id<OrderId>(0);
    one.delivered = domain::read_order_outcome(r.text(1)) == domain::OrderOutcome::delivery;
    orders.push_back(one.order);
    known.push_back(&one);
  });
  auto names = find_order_names(tx, orders);
  for (std::size_t i = 0; i < known.size(); ++i) known[i]->order_number = std::move(names[i].number);
  return found;
}

std::optional<PrivacyRequestRow> lock_shop_redaction(Tx& tx, PrivacyRequestId after) {
  return tx.one(kLockShop, after, read_request);
}
void advance_shop_redaction(Tx& tx, const PrivacyRequestRow& row) {
  tx.exec(kAdvance, row.id, row.orders, row.done_to);
}

Page<PrivacyRequestRow> list_privacy_requests(Tx& tx, AccountId account, const PageRequest& page, bool open,
                                              const std::vector<IntegrationId>& stores) {
  std::vector<PrivacyRequestRow> found;
  std::int64_t before = page.before;
  for (int scanned = 0; scanned < kScanLimit; scanned += kBatch) {
    const int limit = scanned == 0 ? page.fetch() : kBatch;
    int rows = 0;
    tx.query(open ? kListOpen : kList, account, before, limit, [&](const Row& r) {
      ++rows;
      auto request = read_request(r);
      before = request.id.value;
      const bool seen = stores.empty() || std::ranges::find(stores, request.integration) != stores.end();
      if (seen) found.push_back(std::move(request));
    });
    if (rows < limit || std::ssize(found) > page.limit)
      return make_page(std::move(found), page, [](const PrivacyRequestRow& row) { return row.id.value; });
  }
  return {std::move(found), before};
}

std::optional<PrivacyRequestRow> find_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id) {
  return tx.one(kFind, id, account, read_request);
}

bool close_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id, std::string_view by) {
  return tx.exec(kClose, id, account, tx.now(), by) == 1;
}

}  // namespace presetbridge::storage
