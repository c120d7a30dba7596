#include "storage/stores/link_key_store.h"

#include "storage/columns.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kFind{"SELECT id, encrypted_key, created_at FROM link_keys ORDER BY id DESC LIMIT $1"};
constexpr Sql kInsert{"INSERT INTO link_keys (id, encrypted_key, created_at) VALUES ($1, $2, $3)"};
constexpr Sql kDelete{"DELETE FROM link_keys WHERE id = $1"};
// An older program does not write ended_at.
constexpr Sql kLinked{
    "SELECT id, status, COALESCE(ended_at, completed_at, updated_at) FROM deliveries"
    " WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3"};

}  // namespace

std::vector<LinkKeyRow> find_link_keys(Tx& tx) {
  std::vector<LinkKeyRow> keys;
  tx.query(kFind, kLinkKeysInUse, [&](const Row& r) {
    const Blob encrypted = r.bytes(1);
    keys.push_back({r.int64(0), {encrypted.begin(), encrypted.end()}, r.time(2)});
  });
  return keys;
}

void insert_link_key(Tx& tx, const LinkKeyRow& row) {
  tx.exec(kInsert, row.id, Blob(row.encrypted_key), row.created_at);
}

void delete_link_key(Tx& tx, std::int64_t id) {
  tx.exec(kDelete, id);
}

std::vector<LinkedDelivery> list_linked_deliveries(Tx& tx, std::int64_t after, std::int64_t end, int limit) {
  std::vector<LinkedDelivery> found;
  tx.query(kLinked, after, end, limit, [&](const Row& r) {
    found.push_back({r.id<DeliveryId>(0),
                     parsed<domain::DeliveryStatus>(r.text(1), domain::parse_delivery_status), r.time(2)});
  });
  return found;
}

}  // namespace presetbridge::storage
