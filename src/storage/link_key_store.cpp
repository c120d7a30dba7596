#include "storage/link_key_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kFind{"SELECT id, encrypted_key, created_at FROM link_keys ORDER BY id DESC LIMIT $1"};
constexpr Sql kInsert{"INSERT INTO link_keys (id, encrypted_key, created_at) VALUES ($1, $2, $3)"};

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

}  // namespace presetbridge::storage
