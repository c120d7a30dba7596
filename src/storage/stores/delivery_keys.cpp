#include "storage/stores/delivery_keys.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/id_time.h"
#include "base/utf8.h"
#include "domain/mapping.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::storage {
namespace {

constexpr std::size_t kKeyBytes = 100;
// Programs that write deliveries without keys run no longer than this after the first fill_delivery_keys().
constexpr Millis kProgramsOfBefore = std::chrono::days{7};

constexpr Sql kInsertKey{
    "INSERT INTO delivery_keys (account_id, key, delivery_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"};
constexpr Sql kDeleteKey{"DELETE FROM delivery_keys WHERE account_id = $1 AND key = $2 AND delivery_id = $3"};
constexpr Sql kCountByKey{
    "SELECT count(*) FROM (SELECT delivery_id FROM delivery_keys WHERE account_id = $1 AND key = $2 LIMIT $3)"
    " AS counted"};
constexpr Sql kLockFill{"SELECT done_to, until FROM delivery_key_fill WHERE id = 1 <for_update>"};
constexpr Sql kBeginFill{
    "INSERT INTO delivery_key_fill (id, done_to, until) VALUES (1, 0, $1) ON CONFLICT DO NOTHING"};
constexpr Sql kAdvanceFill{"UPDATE delivery_key_fill SET done_to = $1 WHERE id = 1"};
constexpr Sql kToFill{"SELECT id FROM deliveries WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};

// The key of a text, behind the letter of its kind; the letter alone where the text has no key.
std::string key_of(char kind, std::string_view text) {
  return kind + folded_key(text);
}

}  // namespace

std::string folded_key(std::string_view text) {
  // A number may be written with its sign or without.
  if (text.size() > 1 && text.front() == '#') text.remove_prefix(1);
  const auto folded = domain::normalise_match_value(domain::MatchType::title, text);
  return std::string(cut_utf8(folded, kKeyBytes));
}

void insert_delivery_keys(Tx& tx, std::span<const DeliveryKeys> all) {
  std::set<std::pair<std::pair<AccountId, std::string>, DeliveryId>> keys;  // in the order of the table
  for (const auto& d : all) {
    const auto add = [&](char kind, std::string_view text) {
      if (auto key = key_of(kind, text); key.size() > 1)
        keys.insert({{d.account, std::move(key)}, d.delivery});
    };
    const auto folded_order = folded_key(d.order_key);
    // Searches read the orders' own index too, which finds an order id that folding leaves as it is.
    if (folded_order != d.order_key) add('o', d.order_key);
    if (!d.order_number.empty() && folded_key(d.order_number) != folded_order) add('n', d.order_number);
    add('u', d.username);
    add('e', d.email);
    for (const auto file : d.files) keys.insert({{d.account, "f" + std::string(file)}, d.delivery});
  }
  std::vector<Param> flat;
  flat.reserve(3 * keys.size());
  for (const auto& [key, delivery] : keys) flat.insert(flat.end(), {key.first, key.second, delivery});
  if (!flat.empty()) tx.exec_many(kInsertKey, 3, flat);
}

void replace_delivery_key(Tx& tx, AccountId account, DeliveryId delivery, KeyOf kind, std::string_view before,
                          std::string_view now) {
  const auto old_key = key_of(static_cast<char>(kind), before);
  const auto new_key = key_of(static_cast<char>(kind), now);
  if (old_key == new_key) return;
  if (old_key.size() > 1) tx.exec(kDeleteKey, account, old_key, delivery);
  if (new_key.size() > 1) tx.exec(kInsertKey, account, new_key, delivery);
}

void delete_delivery_keys(Tx& tx, std::span<const NameOfDelivery> names) {
  std::vector<std::string> keys;
  keys.reserve(names.size());
  std::vector<Param> flat;
  for (const auto& [account, delivery, kind, name] : names)
    flat.insert(flat.end(), {account, keys.emplace_back(key_of(static_cast<char>(kind), name)), delivery});
  if (!flat.empty()) tx.exec_many(kDeleteKey, 3, flat);
}

std::vector<std::int64_t> count_deliveries_with(Tx& tx, AccountId account, std::span<const std::string> files,
                                                std::int64_t most) {
  std::vector<std::string> keys;
  for (const auto& file : files) keys.push_back("f" + file);
  std::vector<Param> flat;
  for (const auto& key : keys) flat.insert(flat.end(), {account, key, most});
  std::vector<std::int64_t> counts(files.size());
  tx.query_each(kCountByKey, 3, flat, [&](std::size_t n, const Row& r) { counts[n] = r.int64(0); });
  return counts;
}

int fill_delivery_keys(Tx& tx, int limit) {
  const auto read = [](const Row& r) { return std::pair(r.int64(0), r.int64(1)); };
  auto fill = tx.one(kLockFill, read);
  if (!fill) {
    tx.exec(kBeginFill, first_id_at(tx.now() + kProgramsOfBefore));
    fill = tx.one(kLockFill, read);
  }
  const auto [done_to, until] = *fill;
  std::vector<DeliveryId> ids;
  // Transactions under way may still commit older ids.
  const auto end = std::min(until, first_id_at(tx.now() - kIdFromRow));
  tx.query(kToFill, done_to, end, limit, [&](const Row& r) { ids.push_back(r.id<DeliveryId>(0)); });
  if (ids.empty()) return 0;
  // Locks the rows: an erasure that commits after they are read would otherwise find its names written again.
  const auto rows = lock_deliveries(tx, ids);
  std::vector<OrderId> orders;
  for (const auto& row : rows) orders.push_back(OrderId{row.id.value});
  const auto names = find_order_names(tx, orders);
  const auto items = find_items_of_job(tx, ids);
  std::vector<DeliveryKeys> keys;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    auto& texts = keys.emplace_back(DeliveryKeys{.account = row.account,
                                                 .delivery = row.id,
                                                 .order_key = row.order_key,
                                                 .order_number = names[i].number,
                                                 .username = row.username,
                                                 .email = row.email,
                                                 .files = {}});
    for (const auto& item : items) {
      if (item.delivery == row.id) texts.files.push_back(item.file_id);
    }
  }
  insert_delivery_keys(tx, keys);
  tx.exec(kAdvanceFill, ids.back());
  return static_cast<int>(ids.size());
}

}  // namespace presetbridge::storage
