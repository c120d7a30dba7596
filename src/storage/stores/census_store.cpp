#include "storage/stores/census_store.h"

#include "base/id_time.h"

namespace presetbridge::storage {
namespace {

constexpr std::int64_t kMostAccounts = 10'000;

// The conditions are those of the indexes deliveries_under_way and deliveries_in_review, to the letter.
constexpr Sql kUnderWay{
    "SELECT status, count(*), min(id) FROM (SELECT status, id FROM deliveries WHERE open + 0 = 1 ORDER BY id "
    "LIMIT $1) AS counted GROUP BY status"};
constexpr Sql kInReview{
    "SELECT count(*), min(id) FROM (SELECT id FROM deliveries WHERE status = 'in_review' ORDER BY id LIMIT "
    "$1) AS counted"};
// An active subscription with rows that wait is ready at some time. The condition on due_at makes the index
// webhook_sends_pending fit better than that of all rows of a subscription.
constexpr Sql kPendingDispatches{
    "SELECT count(*), min(id) FROM (SELECT webhook_sends.id FROM (SELECT id FROM webhook_subscriptions"
    " WHERE ready_at IS NOT NULL AND active = 1 ORDER BY ready_at LIMIT $1) AS q"
    " JOIN webhook_sends ON webhook_sends.subscription_id = q.id"
    " WHERE webhook_sends.status = 'pending' AND webhook_sends.due_at >= $2 LIMIT $1) AS counted"};
constexpr Sql kPauses{
    "SELECT trouble FROM (SELECT trouble FROM cloud_accounts ORDER BY id LIMIT $1) AS looked_at WHERE "
    "trouble <> ''"};
constexpr Sql kRefusedLogins{
    "SELECT count(*) FROM (SELECT credentials_status, credentials_version, unreadable_login FROM accounts"
    " ORDER BY id LIMIT $1) AS looked_at WHERE credentials_status = 'invalid'"
    " AND (unreadable_login IS NULL OR unreadable_login <> credentials_version)"};
constexpr Sql kNodes{"SELECT roles FROM nodes WHERE seen_at >= $1"};

// Reads a count and the least id from the columns `at` and `at` + 1.
Backlog backlog_of(const Row& r, int at) {
  Backlog backlog{.count = r.int64(at)};
  if (const auto id = r.opt_int64(at + 1)) backlog.oldest = made_at(*id);
  return backlog;
}

}  // namespace

std::map<std::string, Backlog> count_deliveries(Tx& tx) {
  std::map<std::string, Backlog> counted{{"queued", {}}, {"processing", {}}, {"waiting_for_friendship", {}}};
  tx.query(kUnderWay, kMostCounted, [&](const Row& r) { counted[r.string(0)] = backlog_of(r, 1); });
  counted["in_review"] =
      tx.one(kInReview, kMostCounted, [](const Row& r) { return backlog_of(r, 0); }).value();
  return counted;
}

Backlog count_pending_dispatches(Tx& tx) {
  return tx.one(kPendingDispatches, kMostCounted, Timestamp{}, [](const Row& r) { return backlog_of(r, 0); })
      .value();
}

std::vector<std::string> account_pauses(Tx& tx) {
  std::vector<std::string> pauses;
  tx.query(kPauses, kMostAccounts, [&](const Row& r) { pauses.push_back(r.string(0)); });
  return pauses;
}

std::int64_t count_refused_logins(Tx& tx) {
  return tx.one(kRefusedLogins, kMostAccounts, [](const Row& r) { return r.int64(0); }).value();
}

std::vector<std::string> roles_of_nodes(Tx& tx, Timestamp since) {
  std::vector<std::string> roles;
  tx.query(kNodes, since, [&](const Row& r) { roles.push_back(r.string(0)); });
  return roles;
}

}  // namespace presetbridge::storage
