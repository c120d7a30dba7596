#include "storage/stores/delivery_work.h"

namespace presetbridge::storage {
namespace {

using domain::ResolutionCode;

constexpr Sql kFindFailed{
    "SELECT id FROM deliveries WHERE account_id = $1 AND resolution_code = $2 AND id > $3 AND status = "
    "'failed'"
    " ORDER BY id LIMIT $4"};
// The conditions are those of the indexes deliveries_open_of_account and deliveries_unpaid, to the letter.
constexpr Sql kCountUnpaidItems{
    "SELECT count(*) FROM (SELECT 1 FROM deliveries JOIN delivery_items"
    " ON delivery_items.delivery_id = deliveries.id WHERE deliveries.account_id = $1"
    " AND deliveries.open + 0 = 1 AND deliveries.dry_run + 0 = 0 AND delivery_items.status = 'owed'"
    " AND delivery_items.spent = 0 AND delivery_items.former = 0 LIMIT $2) AS counted"};
constexpr Sql kNextWithUnpaid{
    "SELECT account_id FROM deliveries WHERE account_id > $1 AND status = 'failed'"
    " AND (resolution_code || '') = 'insufficient_credits' ORDER BY account_id LIMIT 1"};
// By ranges of (account, id) within one account: with `account_id = $1 ORDER BY id` PostgreSQL may read the
// ids of all accounts instead, where there are few.
constexpr Sql kFindAfter{
    "SELECT id FROM deliveries WHERE (account_id, id) > ($1, $2) AND account_id <= $1 ORDER BY account_id, "
    "id "
    "LIMIT $3"};
constexpr Sql kFindDryRuns{
    "SELECT id FROM deliveries WHERE account_id = $1 AND status = 'queued' AND dry_run = 1 ORDER BY id LIMIT "
    "$2"};
constexpr Sql kNextWithDryRuns{
    "SELECT account_id FROM deliveries WHERE account_id > $1 AND status = 'queued' AND dry_run = 1"
    " ORDER BY account_id, id LIMIT 1"};
constexpr Sql kFindWaiting{
    "SELECT id FROM deliveries WHERE cloud_account_id = $1 AND status = 'waiting_for_friendship'"
    " AND waiting_since <= $2 ORDER BY waiting_since LIMIT $3"};
constexpr Sql kFindWaitingUnknown{
    "SELECT id FROM deliveries WHERE cloud_account_id = $1 AND status = 'waiting_for_friendship'"
    " AND waiting_since IS NULL LIMIT $2"};
constexpr Sql kAnyAwaited{
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM deliveries WHERE cloud_account_id = $1"
    " AND status = 'waiting_for_friendship')"
    " OR EXISTS (SELECT 1 FROM deliveries WHERE cloud_account_id = $1 AND status = 'failed'"
    " AND waiting_since IS NOT NULL AND waiting_since > $2 AND (resolution_code = 'friendship_timeout'"
    " OR resolution_code = 'friend_request_declined' OR resolution_code = 'blocked_by_customer'))"};
constexpr Sql kFindAtWork{
    "SELECT id FROM deliveries WHERE id = $1 AND (open = 1"
    " OR (status = 'failed' AND resolution_code = 'cloud_unavailable')"
    " OR EXISTS (SELECT 1 FROM delivery_items WHERE delivery_items.delivery_id = deliveries.id"
    " AND (delivery_items.status = 'sharing' OR delivery_items.status = 'revoking')))"};
constexpr Sql kNextToProbe{
    "SELECT id FROM deliveries WHERE cloud_account_id = $1 AND id > $2 AND probe_until IS NOT NULL"
    " ORDER BY id LIMIT 1"};

template <class... P>
std::vector<DeliveryId> all_ids(Tx& tx, const Sql& sql, const P&... params) {
  std::vector<DeliveryId> ids;
  tx.query(sql, params..., [&](const Row& r) { ids.push_back(r.id<DeliveryId>(0)); });
  return ids;
}

}  // namespace

std::vector<DeliveryId> find_failed_deliveries(Tx& tx, AccountId account, ResolutionCode code,
                                               DeliveryId after, int limit) {
  return all_ids(tx, kFindFailed, account, domain::to_string(code), after, limit);
}
std::int64_t count_unpaid_items(Tx& tx, AccountId account, std::int64_t most) {
  return tx.one(kCountUnpaidItems, account, most, [](const Row& r) { return r.int64(0); }).value();
}
std::optional<AccountId> next_with_unpaid(Tx& tx, AccountId after) {
  return tx.one(kNextWithUnpaid, after, [](const Row& r) { return r.id<AccountId>(0); });
}
std::vector<DeliveryId> find_deliveries_after(Tx& tx, AccountId account, DeliveryId after, int limit) {
  return all_ids(tx, kFindAfter, account, after, limit);
}
std::vector<DeliveryId> find_waiting(Tx& tx, CloudAccountId cloud_account, Timestamp until, int limit) {
  return all_ids(tx, kFindWaiting, cloud_account, until, limit);
}
std::vector<DeliveryId> find_waiting_unknown(Tx& tx, CloudAccountId cloud_account, int limit) {
  return all_ids(tx, kFindWaitingUnknown, cloud_account, limit);
}
bool any_awaited(Tx& tx, CloudAccountId cloud_account, Timestamp since) {
  return tx.one(kAnyAwaited, cloud_account, since, [](const Row&) { return true; }).value_or(false);
}
std::vector<DeliveryId> find_at_work(Tx& tx, std::span<const DeliveryId> ids) {
  std::vector<DeliveryId> found;
  tx.query_each(kFindAtWork, 1, params_of(ids),
                [&](std::size_t, const Row& r) { found.push_back(r.id<DeliveryId>(0)); });
  return found;
}
std::optional<DeliveryId> next_to_probe(Tx& tx, CloudAccountId cloud_account, DeliveryId after) {
  return tx.one(kNextToProbe, cloud_account, after, [](const Row& r) { return r.id<DeliveryId>(0); });
}
std::vector<DeliveryId> find_dry_runs(Tx& tx, AccountId account, int limit) {
  return all_ids(tx, kFindDryRuns, account, limit);
}
std::optional<AccountId> next_with_dry_runs(Tx& tx, AccountId after) {
  return tx.one(kNextWithDryRuns, after, [](const Row& r) { return r.id<AccountId>(0); });
}

}  // namespace presetbridge::storage
