#include "storage/stores/sealed_store.h"

#include <limits>

namespace presetbridge::storage {
namespace {

constexpr Sql kLogins{
    "SELECT account_id, version, sealed FROM credentials WHERE account_id > $1 ORDER BY account_id LIMIT $2"};
constexpr Sql kStores{
    "SELECT id, encrypted_secret, encrypted_previous_secret, encrypted_older_secret FROM integrations"
    " WHERE id > $1 ORDER BY id LIMIT $2"};
constexpr Sql kReceivers{
    "SELECT id, encrypted_secret, encrypted_previous_secret, encrypted_older_secret FROM "
    "webhook_subscriptions"
    " WHERE id > $1 ORDER BY id LIMIT $2"};
constexpr Sql kSessions{
    "SELECT hash, encrypted_session FROM cloud_sessions WHERE hash > $1 ORDER BY hash LIMIT $2"};
constexpr Sql kIssuerKeys{
    "SELECT kid, created_at, encrypted_private_jwk FROM issuer_keys WHERE kid > $1 ORDER BY kid LIMIT $2"};
constexpr Sql kLinkKeys{"SELECT id, encrypted_key FROM link_keys WHERE id > $1 ORDER BY id LIMIT $2"};

constexpr Sql kReplaceLogin{
    "UPDATE credentials SET sealed = $4 WHERE account_id = $1 AND version = $2 AND sealed = $3"};
constexpr Sql kReplaceStore{
    "UPDATE integrations SET encrypted_secret = $3 WHERE id = $1 AND encrypted_secret = $2"};
constexpr Sql kReplacePreviousOfStore{
    "UPDATE integrations SET encrypted_previous_secret = $3 WHERE id = $1 AND encrypted_previous_secret = "
    "$2"};
constexpr Sql kReplaceOlderOfStore{
    "UPDATE integrations SET encrypted_older_secret = $3 WHERE id = $1 AND encrypted_older_secret = $2"};
constexpr Sql kReplaceReceiver{
    "UPDATE webhook_subscriptions SET encrypted_secret = $3 WHERE id = $1 AND encrypted_secret = $2"};
constexpr Sql kReplacePreviousOfReceiver{
    "UPDATE webhook_subscriptions SET encrypted_previous_secret = $3 WHERE id = $1 AND "
    "encrypted_previous_secret = $2"};
constexpr Sql kReplaceOlderOfReceiver{
    "UPDATE webhook_subscriptions SET encrypted_older_secret = $3 WHERE id = $1 AND encrypted_older_secret = "
    "$2"};
constexpr Sql kReplaceSession{
    "UPDATE cloud_sessions SET encrypted_session = $3 WHERE hash = $1 AND encrypted_session = $2"};
constexpr Sql kReplaceIssuerKey{
    "UPDATE issuer_keys SET encrypted_private_jwk = $3 WHERE kid = $1 AND encrypted_private_jwk = $2"};
constexpr Sql kReplaceLinkKey{"UPDATE link_keys SET encrypted_key = $3 WHERE id = $1 AND encrypted_key = $2"};

std::vector<std::byte> copy(Blob bytes) {
  return {bytes.begin(), bytes.end()};
}

SealedRow secret_row(const Row& r) {
  SealedRow row{.id = r.int64(0), .sealed = copy(r.bytes(1))};
  if (!r.is_null(2)) row.former = copy(r.bytes(2));
  if (!r.is_null(3)) row.older = copy(r.bytes(3));
  return row;
}

// The statement among these that replaces `value`.
Sql replacing(SealedValue value, Sql sealed, Sql former, Sql older) {
  if (value == &SealedRow::former) return former;
  return value == &SealedRow::older ? older : sealed;
}

}  // namespace

std::vector<SealedRow> sealed_rows(Tx& tx, SealedTable table, const SealedRow& after, int limit) {
  std::vector<SealedRow> rows;
  const auto id = after.id == 0 ? std::numeric_limits<std::int64_t>::min() : after.id;  // no row has id 0
  switch (table) {
    case SealedTable::logins:
      tx.query(kLogins, id, limit, [&](const Row& r) {
        rows.push_back({.id = r.int64(0), .version = r.int64(1), .sealed = copy(r.bytes(2))});
      });
      break;
    case SealedTable::stores:
      tx.query(kStores, id, limit, [&](const Row& r) { rows.push_back(secret_row(r)); });
      break;
    case SealedTable::receivers:
      tx.query(kReceivers, id, limit, [&](const Row& r) { rows.push_back(secret_row(r)); });
      break;
    case SealedTable::sessions:
      tx.query(kSessions, Blob(after.hash), limit,
               [&](const Row& r) { rows.push_back({.hash = copy(r.bytes(0)), .sealed = copy(r.bytes(1))}); });
      break;
    case SealedTable::issuer_keys:
      tx.query(kIssuerKeys, after.kid, limit, [&](const Row& r) {
        rows.push_back({.kid = r.string(0), .created_at = r.time(1), .sealed = copy(r.bytes(2))});
      });
      break;
    case SealedTable::link_keys:
      tx.query(kLinkKeys, id, limit,
               [&](const Row& r) { rows.push_back({.id = r.int64(0), .sealed = copy(r.bytes(1))}); });
      break;
  }
  return rows;
}

bool replace_sealed(Tx& tx, SealedTable table, const SealedRow& row, SealedValue value, Blob fresh) {
  const Blob before(row.*value);
  switch (table) {
    case SealedTable::logins:
      return tx.exec(kReplaceLogin, row.id, row.version, before, fresh) == 1;
    case SealedTable::stores:
      return tx.exec(replacing(value, kReplaceStore, kReplacePreviousOfStore, kReplaceOlderOfStore), row.id,
                     before, fresh) == 1;
    case SealedTable::receivers:
      return tx.exec(replacing(value, kReplaceReceiver, kReplacePreviousOfReceiver, kReplaceOlderOfReceiver),
                     row.id, before, fresh) == 1;
    case SealedTable::sessions:
      return tx.exec(kReplaceSession, Blob(row.hash), before, fresh) == 1;
    case SealedTable::issuer_keys:
      return tx.exec(kReplaceIssuerKey, row.kid, before, fresh) == 1;
    case SealedTable::link_keys:
      return tx.exec(kReplaceLinkKey, row.id, before, fresh) == 1;
  }
  return false;
}

}  // namespace presetbridge::storage
