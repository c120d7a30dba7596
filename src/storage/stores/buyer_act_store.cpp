#include "storage/stores/buyer_act_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kFind{"SELECT corrections, retries, acted_at FROM buyer_acts WHERE delivery_id = $1"};
constexpr Sql kPut{
    "INSERT INTO buyer_acts (delivery_id, account_id, corrections, retries, acted_at) VALUES ($1, $2, $3, "
    "$4, $5) "
    "ON CONFLICT (delivery_id) DO UPDATE SET corrections = excluded.corrections, retries = excluded.retries, "
    "acted_at = excluded.acted_at"};

}  // namespace

domain::BuyerActs find_buyer_acts(Tx& tx, DeliveryId delivery) {
  const auto found = tx.one(kFind, delivery, [](const Row& r) {
    return domain::BuyerActs{.corrections = r.int64(0), .retries = r.int64(1), .acted_at = r.time(2)};
  });
  return found.value_or(domain::BuyerActs{});
}

void put_buyer_acts(Tx& tx, AccountId account, DeliveryId delivery, const domain::BuyerActs& acts) {
  tx.exec(kPut, delivery, account, acts.corrections, acts.retries, acts.acted_at);
}

}  // namespace presetbridge::storage
