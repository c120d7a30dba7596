#include "storage/stores/change_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "storage/columns.h"
#include "storage/stores/item_store.h"

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {
    "delivery", "order", "intake_refused", "subscription", "credits", "cloud", "bulk"};

constexpr Sql kWatch{
    "INSERT INTO account_watches (account_id, generation, sequence, until) VALUES ($1, $2, 0, $3)"
    " ON CONFLICT (account_id) DO UPDATE SET until = CASE WHEN excluded.until > account_watches.until"
    " THEN excluded.until ELSE account_watches.until END RETURNING generation, sequence"};
// On PostgreSQL, as in order_writers(): a transaction that has read the table holds its lock until it ends.
constexpr Sql kWatchWriters{
    "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted"
    " AND mode IN ('RowShareLock', 'RowExclusiveLock') AND pid <> pg_backend_pid()"
    " AND relation = CAST('account_watches' AS regclass)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"};
constexpr Sql kFindWatch{"SELECT generation, sequence FROM account_watches WHERE account_id = $1"};
constexpr Sql kLockWatch{
    "SELECT generation, sequence FROM account_watches WHERE account_id = $1 <for_update>"};
constexpr Sql kAdvance{"UPDATE account_watches SET sequence = $2 WHERE account_id = $1"};
constexpr Sql kInsert{
    "INSERT INTO account_changes (account_id, generation, sequence, at, kind, data)"
    " VALUES ($1, $2, $3, $4, $5, $6)"};
constexpr Sql kFindChanges{
    "SELECT sequence, kind, data FROM account_changes WHERE account_id = $1 AND generation = $2"
    " AND sequence > $3 ORDER BY account_id, generation, sequence LIMIT $4"};
constexpr Sql kFindDelivery{
    "SELECT status, resolution_code, updated_at, version FROM deliveries WHERE id = $1"};
constexpr Sql kFindMark{"SELECT version, link_version, updated_at FROM deliveries WHERE id = $1"};
constexpr Sql kAccountOfIntegration{"SELECT account_id FROM integrations WHERE id = $1"};
constexpr Sql kAccountOfSubscription{"SELECT account_id FROM webhook_subscriptions WHERE id = $1"};
constexpr Sql kAccountsOfCloud{"SELECT id FROM accounts WHERE cloud_account_id = $1"};
constexpr Sql kFindEnded{
    "SELECT account_id FROM account_watches WHERE until < $1 ORDER BY until, account_id LIMIT $2"};
constexpr Sql kEnd{"DELETE FROM account_watches WHERE account_id = $1 AND until < $2"};
constexpr Sql kDeleteOld{
    "DELETE FROM account_changes WHERE (account_id, generation, sequence) IN"
    " (SELECT account_id, generation, sequence FROM account_changes WHERE at < $1 ORDER BY at LIMIT $2)"};

WatchPosition read_position(const Row& r) {
  return {r.int64(0), r.int64(1)};
}

// Finds the accounts of changes that were noted without one.
void find_accounts(Tx& tx, Changes& changes, ChangeKind kind, const Sql& sql) {
  std::vector<Change> of_kind;
  const auto unknown = [&](const Change& c) { return c.kind == kind && !c.account; };
  std::ranges::copy_if(changes, std::back_inserter(of_kind), unknown);
  if (of_kind.empty()) return;
  std::erase_if(changes, unknown);
  std::vector<Param> ids;
  for (const auto& change : of_kind) ids.emplace_back(change.id);
  tx.query_each(sql, 1, ids, [&](std::size_t n, const Row& r) {
    auto& found = changes.emplace_back(of_kind[n]);
    found.account = r.id<AccountId>(0);
    if (kind == ChangeKind::cloud) found.id = 0;  // the cloud account's id is not for merchants
  });
}

auto key_of(const Change& c) {
  // The outcome of an order is not part of the key.
  return std::tuple(c.account, c.kind, c.id,
                    c.kind == ChangeKind::intake_refused ? std::string_view(c.word) : std::string_view());
}

// Leaves the last change of each key: accounts in the order of their ids, the changes of one in the order
// in which they were noted.
void leave_last(Changes& changes) {
  std::vector<std::size_t> order(changes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto left = key_of(changes[a]);
    const auto right = key_of(changes[b]);
    return left != right ? left < right : a > b;
  });
  const auto same = std::ranges::unique(
      order, [&](std::size_t a, std::size_t b) { return key_of(changes[a]) == key_of(changes[b]); });
  order.erase(same.begin(), same.end());
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(changes[i].account, i); });
  Changes left;
  left.reserve(order.size());
  for (const auto i : order) left.push_back(std::move(changes[i]));
  changes = std::move(left);
}

// The deliveries as the transaction leaves them.
std::unordered_map<std::int64_t, std::string> deliveries_as_json(Tx& tx, const Changes& changes) {
  std::vector<DeliveryId> ids;
  for (const auto& change : changes) {
    if (change.kind == ChangeKind::delivery) ids.push_back(DeliveryId{change.id});
  }
  std::unordered_map<std::int64_t, std::string> texts;
  if (ids.empty()) return texts;
  const auto items = summarise_items(tx, ids);
  tx.query_each(
      kFindDelivery, 1, params_of(std::span<const DeliveryId>(ids)), [&](std::size_t n, const Row& r) {
        const auto code = r.is_null(1) ? std::string("null") : fmt::format(R"("{}")", r.text(1));
        texts[ids[n].value] =
            fmt::format(R"({{"id":"{}","status":"{}","resolutionCode":{},"items":{{"shared":{},"total":{}}},)"
                        R"("updatedAt":"{}","version":{}}})",
                        to_string(ids[n]), r.text(0), code, items[n].delivered, items[n].count,
                        to_iso8601(r.time(2)), r.int64(3));
      });
  return texts;
}

std::string as_json(const Change& change) {
  switch (change.kind) {
    case ChangeKind::order:
      return fmt::format(R"({{"id":"{}","integrationId":"{}","outcome":"{}"}})",
                         to_string(OrderId{change.id}), to_string(change.integration), change.word);
    case ChangeKind::intake_refused:
      return fmt::format(R"({{"integrationId":"{}","code":"{}"}})", to_string(IntegrationId{change.id}),
                         change.word);
    case ChangeKind::subscription:
      return fmt::format(R"({{"id":"{}"}})", to_string(SubscriptionId{change.id}));
    case ChangeKind::bulk:
      return fmt::format(R"({{"id":"{}"}})", to_string(BulkJobId{change.id}));
    case ChangeKind::delivery:
    case ChangeKind::credits:
    case ChangeKind::cloud:
      return "{}";
  }
  std::unreachable();
}

}  // namespace

WatchPosition watch_account(Tx& tx, AccountId account, std::int64_t generation, Timestamp until) {
  return tx.one(kWatch, account, generation, until, read_position).value();
}

std::set<std::string> watch_writers(Tx& tx) {
  std::set<std::string> writers;
  if (!tx.others_write()) return writers;
  tx.query(kWatchWriters, [&](const Row& r) { writers.insert(r.string(0)); });
  return writers;
}

std::vector<std::optional<WatchPosition>> find_watches(Tx& tx, std::span<const AccountId> accounts) {
  std::vector<std::optional<WatchPosition>> found(accounts.size());
  tx.query_each(kFindWatch, 1, params_of(accounts),
                [&](std::size_t n, const Row& r) { found[n] = read_position(r); });
  return found;
}

std::vector<std::vector<StoredChange>> find_changes(Tx& tx, std::span<const ChangesAsked> asked, int limit) {
  std::vector<std::vector<StoredChange>> found(asked.size());
  std::vector<Param> flat;
  for (const auto& a : asked) flat.insert(flat.end(), {a.account, a.generation, a.after, limit});
  tx.query_each(kFindChanges, 4, flat, [&](std::size_t n, const Row& r) {
    found[n].push_back({r.int64(0), r.string(1), r.string(2)});
  });
  return found;
}

void write_changes(Tx& tx, Changes changes, std::vector<WrittenChanges>& all_written) {
  find_accounts(tx, changes, ChangeKind::intake_refused, kAccountOfIntegration);
  find_accounts(tx, changes, ChangeKind::subscription, kAccountOfSubscription);
  find_accounts(tx, changes, ChangeKind::cloud, kAccountsOfCloud);
  std::vector<AccountId> accounts;
  for (const auto& change : changes) accounts.push_back(change.account);
  std::ranges::sort(accounts);
  accounts.erase(std::ranges::unique(accounts).begin(), accounts.end());
  std::unordered_map<AccountId, WatchPosition> watched;
  tx.query_each(kLockWatch, 1, params_of(std::span<const AccountId>(accounts)),
                [&](std::size_t n, const Row& r) { watched[accounts[n]] = read_position(r); });
  if (watched.empty()) return;
  std::erase_if(changes, [&](const Change& c) { return !watched.contains(c.account); });
  leave_last(changes);
  auto deliveries = deliveries_as_json(tx, changes);
  std::vector<WrittenChanges> written;
  std::vector<Param> rows;
  std::vector<Param> positions;
  for (auto next = changes.begin(); next != changes.end();) {
    auto& position = watched.at(next->account);
    auto& of =
        written.emplace_back(WrittenChanges{next->account, position.generation, position.sequence + 1, {}});
    for (; next != changes.end() && next->account == of.account; ++next) {
      const bool delivery = next->kind == ChangeKind::delivery;
      of.changes.push_back({std::string(kKinds[static_cast<std::size_t>(next->kind)]),
                            delivery ? std::move(deliveries[next->id]) : as_json(*next)});
    }
    position.sequence += std::ssize(of.changes);
    positions.insert(positions.end(), {of.account, position.sequence});
  }
  for (const auto& of : written) {
    auto sequence = of.first;
    for (const auto& change : of.changes)
      rows.insert(rows.end(), {of.account, of.generation, sequence++, tx.now(), change.kind, change.data});
  }
  tx.exec_many(kInsert, 6, rows);
  tx.update_each(kAdvance, 2, positions);
  std::ranges::move(written, std::back_inserter(all_written));
}

std::vector<std::optional<DeliveryMark>> find_delivery_marks(Tx& tx, std::span<const DeliveryId> ids) {
  std::vector<std::optional<DeliveryMark>> found(ids.size());
  tx.query_each(kFindMark, 1, params_of(ids), [&](std::size_t n, const Row& r) {
    found[n] = DeliveryMark{r.int64(0), r.int64(1), r.time(2)};
  });
  return found;
}

std::int64_t delete_ended_watches(Tx& tx, Timestamp now, int limit) {
  std::vector<AccountId> ended;
  tx.query(kFindEnded, now, limit, [&](const Row& r) { ended.push_back(r.id<AccountId>(0)); });
  std::ranges::sort(ended);  // in the order in which changes lock them
  std::int64_t deleted = 0;
  for (const auto account : ended) deleted += tx.exec(kEnd, account, now);
  return deleted;
}

std::int64_t delete_old_changes(Tx& tx, Timestamp before, int limit) {
  return tx.exec(kDeleteOld, before, limit);
}

}  // namespace presetbridge::storage
