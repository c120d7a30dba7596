#include "services/keys/link_keys.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "crypto/link_token.h"

namespace presetbridge::services {

using storage::kLinkKey;
using storage::LinkKeyRow;
using storage::Tx;

namespace {

LinkKeyRow make_key(const crypto::ServiceCipher& cipher, Random& random, std::int64_t id, Timestamp now) {
  crypto::SecretBytes key(crypto::kLinkKeyBytes);
  random.fill(key.writable());
  return {id, cipher.encrypt({kLinkKey, id}, crypto::text_of(key.reveal())), now};
}

}  // namespace

bool is_link_over(domain::DeliveryStatus status, Timestamp ended, Timestamp now) {
  using domain::DeliveryStatus;
  return (status == DeliveryStatus::completed || status == DeliveryStatus::invalidated) &&
         now >= ended + kBuyerLinkLife;
}

std::shared_ptr<const LinkKeys::Ring> LinkKeys::ring() const {
  const std::scoped_lock lock(mutex_);
  if (!ring_) throw std::logic_error("no link key was read");
  return ring_;
}

Expected<std::shared_ptr<const LinkKeys::Ring>> LinkKeys::ring_of(std::span<const LinkKeyRow> rows) {
  {
    const std::scoped_lock lock(mutex_);
    if (ring_ && std::ranges::equal(rows, *ring_, {}, &LinkKeyRow::id, &Key::id)) return ring_;
  }
  auto fresh = std::make_shared<Ring>();
  for (const auto& row : rows) {
    auto key = cipher_.decrypt({kLinkKey, row.id}, row.encrypted_key);
    if (!key) return std::unexpected(key.error());
    fresh->push_back({row.id, std::move(*key)});
  }
  if (fresh->empty()) return fail("RECORD_CORRUPT", "The keys of buyers' links are gone.");
  const std::scoped_lock lock(mutex_);
  ring_ = fresh;
  return fresh;
}

Task<Expected<void>> LinkKeys::start(Executor& executor) {
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

Task<Expected<int>> LinkKeys::reload(Executor& executor) {
  auto rows = co_await async_db_.read(executor, [](Tx& tx) { return find_link_keys(tx); });
  if (!rows) co_return std::unexpected(rows.error());
  const auto opened = ring_of(*rows);
  if (!opened) co_return std::unexpected(opened.error());
  co_return static_cast<int>(rows->size());
}

Task<Expected<bool>> LinkKeys::add_key(Executor& executor) {
  co_return co_await async_db_.write(executor, [this](Tx& tx) {
    tx.lock_schema();  // one at a time
    const auto known = find_link_keys(tx);
    if (known.size() != 1) return false;
    const auto id = std::max(ids_.next(), known.front().id + 1);
    insert_link_key(tx, make_key(cipher_, random_, id, tx.now()));
    return true;
  });
}

}  // namespace presetbridge::services
