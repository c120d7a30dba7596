#include "services/buyers/buyer_links.h"

#include <optional>
#include <utility>
#include <vector>

#include "crypto/link_token.h"
#include "services/delivery/erased.h"

namespace presetbridge::services {

using storage::DeliveryRow;
using storage::LinkKeyRow;
using storage::Tx;

namespace {

std::unexpected<Error> no_such_link() {
  return fail("NOT_FOUND", "There is no such link, or it is no longer valid.");
}

bool expired(const DeliveryRow& row, Timestamp now) {
  // An earlier program does not store the time.
  return is_link_over(row.status, row.ended_at.value_or(row.completed_at.value_or(row.updated_at)), now);
}

}  // namespace

std::string BuyerLinks::token_of(const DeliveryRow& delivery) const {
  return crypto::make_link_token(keys_.ring()->front().bytes.reveal(), delivery.id.value,
                                 delivery.link_version);
}

Task<Expected<DeliveryRow>> BuyerLinks::find(Executor& executor, std::string token) {
  const auto claim = crypto::parse_link_token(token);
  if (!claim) co_return no_such_link();
  struct Found {
    std::vector<LinkKeyRow> keys;
    std::optional<DeliveryRow> delivery;
    bool erased = false;
    Timestamp now;
  };
  auto found = co_await async_db_.read(executor, [id = DeliveryId{claim->id}](Tx& tx) {
    return Found{find_link_keys(tx), find_delivery(tx, id), is_erased(tx, id), tx.now()};
  });
  if (!found) co_return std::unexpected(found.error());
  const auto known = keys_.ring_of(found->keys);
  if (!known) co_return std::unexpected(known.error());
  // The computation is done without a delivery too, so that the time reveals nothing.
  const auto version = found->delivery ? found->delivery->link_version : 0;
  bool genuine = false;
  for (const auto& key : **known) genuine |= crypto::is_link_of(key.bytes.reveal(), *claim, version);
  if (!genuine || !found->delivery || found->erased || expired(*found->delivery, found->now))
    co_return no_such_link();
  co_return std::move(*found->delivery);
}

}  // namespace presetbridge::services
