#include "storage/stores/key_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kFind{"SELECT id FROM used_keys WHERE purpose = $1"};
constexpr Sql kSince{"SELECT first_used_at FROM used_keys WHERE purpose = $1 AND id = $2"};
constexpr Sql kNote{
    "INSERT INTO used_keys (purpose, id, first_used_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"};
constexpr Sql kForget{"DELETE FROM used_keys WHERE purpose = $1"};
constexpr Sql kForgetOne{"DELETE FROM used_keys WHERE purpose = $1 AND id = $2"};

std::string_view name_of(KeyUse use) {
  return use == KeyUse::service ? "service" : "vault";
}

}  // namespace

std::vector<std::string> used_keys(Tx& tx, KeyUse use) {
  std::vector<std::string> ids;
  tx.query(kFind, name_of(use), [&](const Row& r) { ids.push_back(r.string(0)); });
  return ids;
}

std::optional<Timestamp> key_used_since(Tx& tx, KeyUse use, std::string_view id) {
  return tx.one(kSince, name_of(use), id, [](const Row& r) { return r.time(0); });
}

void forget_used_keys(Tx& tx, KeyUse use) {
  tx.exec(kForget, name_of(use));
}

void forget_used_key(Tx& tx, KeyUse use, std::string_view id) {
  tx.exec(kForgetOne, name_of(use), id);
}

void note_used_key(Tx& tx, KeyUse use, std::string_view id) {
  tx.exec(kNote, name_of(use), id, tx.now());
}

}  // namespace presetbridge::storage
