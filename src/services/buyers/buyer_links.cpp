#include "services/buyers/buyer_links.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "crypto/link_token.h"
#include "crypto/secret.h"
#include "services/delivery/erased.h"

namespace presetbridge::services {

using storage::DeliveryRow;
using storage::LinkKeyRow;
using storage::Tx;

namespace {

using storage::kLinkKey;

std::unexpected<Error> no_such_link() {
  return fail("NOT_FOUND", "There is no such link, or it is no longer valid.");
}

LinkKeyRow make_key(const crypto::ServiceCipher& cipher, Random& random, std::int64_t id, Timestamp now) {
  crypto::SecretBytes key(crypto::link_key_bytes);
  random.fill(key.writable());
  return {id, cipher.encrypt({kLinkKey, id}, crypto::text_of(key.reveal())), now};
}

bool expired(const DeliveryRow& row, Timestamp now) {
  // An earlier program does not store the time.
  return is_link_over(row.status, row.ended_at.value_or(row.completed_at.value_or(row.updated_at)), now);
}

}  // namespace

bool is_link_over(domain::DeliveryStatus status, Timestamp ended, Timestamp now) {
  using domain::DeliveryStatus;
  return (status == DeliveryStatus::completed || status == DeliveryStatus::invalidated) &&
         now >= ended + kBuyerLinkLife;
}

struct BuyerLinks::Ring {
  struct Key {
    std::int64_t id;
    crypto::SecretString bytes;
  };
  std::vector<Key> keys;  // newest first, one at least
};

std::shared_ptr<const BuyerLinks::Ring> BuyerLinks::ring() const {
  const std::scoped_lock lock(mutex_);
  return ring_;
}

Expected<std::shared_ptr<const BuyerLinks::Ring>> BuyerLinks::ring_of(std::span<const LinkKeyRow> rows) {
  const auto known = ring();
  if (known && std::ranges::equal(rows, known->keys, {}, &LinkKeyRow::id, &Ring::Key::id)) return known;
  auto fresh = std::make_shared<Ring>();
  for (const auto& row : rows) {
    auto key = cipher_.decrypt({kLinkKey, row.id}, row.encrypted_key);
    if (!key) return std::unexpected(key.error());
    fresh->keys.push_back({row.id, std::move(*key)});
  }
  if (fresh->keys.empty()) return fail("RECORD_CORRUPT", "The keys of buyers' links are gone.");
  const std::scoped_lock lock(mutex_);
  ring_ = fresh;
  return fresh;
}

Task<Expected<void>> BuyerLinks::start(Executor& executor) {
  auto rows = co_await async_db_.write(executor, [this](Tx& tx) {
    auto found = find_link_keys(tx);
    if (found.empty()) {
      // The first of several nodes that start at one moment decides, and the others take what it made.
      tx.lock_schema();
      found = find_link_keys(tx);
    }
    if (found.empty()) {
      found.push_back(make_key(cipher_, random_, ids_.next(), tx.now()));
      insert_link_key(tx, found.back());
    }
    return found;
  });
  if (!rows) co_return std::unexpected(rows.error());
  auto opened = ring_of(*rows);
  if (!opened) co_return std::unexpected(opened.error());
  co_return Expected<void>{};
}

Task<Expected<int>> BuyerLinks::reload(Executor& executor) {
  auto rows = co_await async_db_.read(executor, [](Tx& tx) { return find_link_keys(tx); });
  if (!rows) co_return std::unexpected(rows.error());
  const auto opened = ring_of(*rows);
  if (!opened) co_return std::unexpected(opened.error());
  co_return static_cast<int>(rows->size());
}

Task<Expected<bool>> BuyerLinks::add_key(Executor& executor) {
  co_return co_await async_db_.write(executor, [this](Tx& tx) {
    tx.lock_schema();  // one at a time
    const auto known = find_link_keys(tx);
    if (known.size() != 1) return false;
    const auto id = std::max(ids_.next(), known.front().id + 1);
    insert_link_key(tx, make_key(cipher_, random_, id, tx.now()));
    return true;
  });
}

std::string BuyerLinks::token_of(const DeliveryRow& delivery) const {
  const auto known = ring();
  if (!known) throw std::logic_error("no link key was read");
  return crypto::make_link_token(known->keys.front().bytes.reveal(), delivery.id.value,
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
  const auto known = ring_of(found->keys);
  if (!known) co_return std::unexpected(known.error());
  // The computation is done without a delivery too, so that the time reveals nothing.
  const auto version = found->delivery ? found->delivery->link_version : 0;
  bool genuine = false;
  for (const auto& key : (*known)->keys) genuine |= crypto::is_link_of(key.bytes.reveal(), *claim, version);
  if (!genuine || !found->delivery || found->erased || expired(*found->delivery, found->now))
    co_return no_such_link();
  co_return std::move(*found->delivery);
}

}  // namespace presetbridge::services
