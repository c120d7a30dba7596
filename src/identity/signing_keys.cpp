#include "identity/signing_keys.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "storage/stores/identity_store.h"

namespace presetbridge::identity {

using storage::Tx;

namespace {

constexpr Millis kReloadCoolDown = std::chrono::seconds{10};

}  // namespace

struct SigningKeys::Ring {
  crypto::PrivateJwk signer;
  std::vector<std::string> kids;  // newest first
  Keys all;
};

std::shared_ptr<const SigningKeys::Ring> SigningKeys::ring() const {
  const std::scoped_lock lock(mutex_);
  return ring_;
}

storage::IssuerKeyRow SigningKeys::make_key(Timestamp now) const {
  const auto key = crypto::PrivateJwk::generate(crypto::JwsAlgorithm::es256);
  return {key.kid(), key.public_key().to_json(),
          cipher_.encrypt({storage::kIssuerKey, to_unix_ms(now)}, key.reveal_json().reveal()), now};
}

Task<Expected<Keys>> SigningKeys::load(Executor& executor) {
  auto stored = co_await async_db_.write(executor, [this](Tx& tx) {
    auto found = storage::issuer_keys(tx);
    if (found.empty()) {
      // The first of several nodes that start at one moment decides, and the others take what it made.
      tx.lock_schema();
      found = storage::issuer_keys(tx);
    }
    if (found.empty()) {
      found.push_back(make_key(tx.now()));
      storage::insert_issuer_key(tx, found.back());
    }
    return Stored{std::move(found), tx.now()};
  });
  if (!stored) co_return std::unexpected(stored.error());
  auto taken = take(*stored);
  if (!taken) co_return std::unexpected(taken.error());
  const std::scoped_lock lock(mutex_);
  loaded_at_ = clock_.now();
  co_return std::move(*taken);
}

Task<Expected<int>> SigningKeys::reload(Executor& executor) {
  auto stored =
      co_await async_db_.read(executor, [](Tx& tx) { return Stored{storage::issuer_keys(tx), tx.now()}; });
  if (!stored) co_return std::unexpected(stored.error());
  const auto taken = take(*stored);
  if (!taken) co_return std::unexpected(taken.error());
  co_return static_cast<int>(stored->rows.size());
}

Task<Expected<bool>> SigningKeys::add(Executor& executor) {
  co_return co_await async_db_.write(executor, [this](Tx& tx) {
    tx.lock_schema();  // one at a time
    auto known = storage::issuer_keys(tx);
    if (known.size() != 1) return false;
    // Newer than the one before it, whatever the clock says.
    storage::insert_issuer_key(tx, make_key(std::max(tx.now(), known.front().created_at + Millis{1})));
    return true;
  });
}

Expected<Keys> SigningKeys::take(const Stored& stored) {
  const auto& rows = stored.rows;
  if (rows.empty()) return fail("RECORD_CORRUPT", "The issuer's keys are gone.");
  // The newest that all nodes know by now; the first of all signs at once.
  auto signs = std::ranges::find_if(
      rows, [&](const auto& row) { return row.created_at <= stored.now - kSigningKeyKnown; });
  if (signs == rows.end()) signs = std::prev(rows.end());
  std::vector<std::string> kids;
  std::vector<crypto::PublicJwk> all;
  for (const auto& row : rows) {
    auto key = crypto::PublicJwk::parse(row.public_jwk);
    if (!key) return std::unexpected(key.error());
    all.push_back(std::move(*key));
    kids.push_back(row.kid);
  }
  if (const auto known = ring(); known && known->kids == kids && known->signer.kid() == signs->kid)
    return known->all;
  auto secret =
      cipher_.decrypt({storage::kIssuerKey, to_unix_ms(signs->created_at)}, signs->encrypted_private_jwk);
  if (!secret) return std::unexpected(secret.error());
  auto signer = crypto::PrivateJwk::parse(*secret);
  if (!signer) return std::unexpected(signer.error());
  if (signer->kid() != signs->kid)
    return fail("RECORD_CORRUPT", "A signing key is stored under another's name.");

  auto fresh = std::make_shared<const Ring>(
      Ring{std::move(*signer), std::move(kids), std::make_shared<const crypto::JwkSet>(std::move(all))});
  const std::scoped_lock lock(mutex_);
  ring_ = fresh;
  return fresh->all;
}

Task<Expected<Keys>> SigningKeys::keys(Executor& executor) {
  auto known = ring();
  if (known) co_return known->all;
  co_return co_await load(executor);
}

Task<Expected<Keys>> SigningKeys::fresh_keys(Executor& executor) {
  const auto now = clock_.now();
  Keys known;
  {
    const std::scoped_lock lock(mutex_);
    // Set before the reading ends, so that a crowd with unknown keys makes one reading.
    const bool recent = loaded_at_ && now >= *loaded_at_ && now < *loaded_at_ + kReloadCoolDown;
    if (recent && ring_) known = ring_->all;
    loaded_at_ = recent ? loaded_at_ : std::optional(now);
  }
  if (known) co_return known;
  co_return co_await load(executor);
}

Expected<std::string> SigningKeys::sign(std::string_view claims) const {
  const auto known = ring();
  if (!known) return fail("ISSUER_UNAVAILABLE", "The issuer has not started.");
  return known->signer.sign(claims);
}

std::string SigningKeys::jwks() const {
  const auto known = ring();
  return known ? known->all->to_json() : R"({"keys":[]})";
}

}  // namespace presetbridge::identity
