#include "storage/stores/overview_store.h"

#include <algorithm>

#include "base/id_time.h"
#include "storage/columns.h"
#include "storage/stores/privacy_store.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using domain::ResolutionCode;

// The conditions are those of the indexes, to the letter.
constexpr Sql kStanding{
    "SELECT count(*), min(id) FROM (SELECT id FROM deliveries WHERE (status || '') = $1 AND integration_id = "
    "$2"
    " ORDER BY id LIMIT $3) AS counted"};
constexpr Sql kWaiting{
    "SELECT min(waiting_since) FROM (SELECT waiting_since FROM deliveries"
    " WHERE (status || '') = 'waiting_for_friendship' AND integration_id = $1 ORDER BY id LIMIT $2) AS "
    "oldest"};
constexpr Sql kFailedFor{
    "SELECT count(*), min(id) FROM (SELECT id FROM deliveries WHERE account_id = $1 AND resolution_code = $2"
    " AND status = 'failed' ORDER BY id LIMIT $3) AS counted"};
constexpr Sql kFailedOfStore{
    "SELECT resolution_code, count(*), min(id) FROM (SELECT id, resolution_code FROM deliveries"
    " WHERE (status || '') = 'failed' AND integration_id = $1 ORDER BY id LIMIT $2) AS counted"
    " GROUP BY resolution_code"};
constexpr Sql kPrivacy{
    "SELECT received_at, integration_id, kind FROM privacy_requests WHERE account_id = $1 AND closed_at IS "
    "NULL"
    " ORDER BY id LIMIT $2"};
constexpr Sql kStale{
    "SELECT CAST(COALESCE(sum(stale), 0) AS BIGINT) FROM (SELECT mappings.stale AS stale FROM integrations"
    " JOIN mappings ON mappings.integration_id = integrations.id"
    " AND mappings.generation = integrations.mappings_generation WHERE integrations.id = $1 LIMIT $2) AS "
    "counted"};
constexpr Sql kMappedFiles{
    "SELECT mappings.file_id, mappings.file_name, mappings.kind, mappings.match_type, mappings.match_value,"
    " mappings.stale FROM integrations"
    " JOIN mappings ON mappings.integration_id = integrations.id"
    " AND mappings.generation = integrations.mappings_generation WHERE integrations.id = $1 LIMIT $2"};
constexpr Sql kTestDelivered{
    "SELECT 1 FROM (SELECT status FROM deliveries WHERE account_id = $1 AND dry_run + 0 = 1 ORDER BY id DESC"
    " LIMIT $2) AS counted WHERE status = 'completed' LIMIT 1"};
constexpr Sql kDelivered{
    "SELECT 1 FROM (SELECT dry_run FROM deliveries WHERE (status || '') = 'completed' AND integration_id = $1"
    " ORDER BY id DESC LIMIT $2) AS counted WHERE dry_run = 0 LIMIT 1"};

Standing standing_of(const Row& r, int at) {
  Standing standing{.count = r.int64(at), .oldest = {}};
  if (const auto id = r.opt_int64(at + 1)) standing.oldest = made_at(*id);
  return standing;
}

}  // namespace

std::vector<Standing> count_standing(Tx& tx, std::span<const IntegrationId> stores, DeliveryStatus status) {
  std::vector<Standing> found(stores.size());
  std::vector<Param> flat;
  for (const auto store : stores) flat.insert(flat.end(), {domain::to_string(status), store, kMostStanding});
  tx.query_each(kStanding, 3, flat, [&](std::size_t n, const Row& r) { found[n] = standing_of(r, 0); });
  return found;
}

std::optional<Timestamp> find_oldest_waiting(Tx& tx, std::span<const IntegrationId> stores) {
  std::optional<Timestamp> oldest;
  std::vector<Param> flat;
  for (const auto store : stores) flat.insert(flat.end(), {store, kMostWaiting});
  tx.query_each(kWaiting, 2, flat, [&](std::size_t, const Row& r) {
    if (const auto since = r.opt_time(0)) oldest = std::min(oldest.value_or(*since), *since);
  });
  return oldest;
}

std::vector<FailedFor> count_failed(Tx& tx, AccountId account) {
  std::vector<FailedFor> found;
  std::vector<ResolutionCode> codes;
  std::vector<Param> flat;
  for (const auto name : domain::kResolutionCodeNames) {
    const auto code = domain::parse_resolution_code(name);
    if (!code || *code == ResolutionCode::none) continue;
    codes.push_back(*code);
    flat.insert(flat.end(), {account, name, kMostStanding});
  }
  tx.query_each(kFailedFor, 3, flat, [&](std::size_t n, const Row& r) {
    if (r.int64(0) > 0) found.push_back({codes[n], standing_of(r, 0)});
  });
  return found;
}

std::vector<FailedFor> count_failed(Tx& tx, IntegrationId store) {
  std::vector<FailedFor> found;
  tx.query(kFailedOfStore, store, kMostStanding, [&](const Row& r) {
    found.push_back({parsed<ResolutionCode>(r.text(0), domain::parse_resolution_code), standing_of(r, 1)});
  });
  std::ranges::sort(found, {}, &FailedFor::code);
  return found;
}

Standing count_open_privacy_requests(Tx& tx, AccountId account, std::optional<IntegrationId> store) {
  Standing standing;
  tx.query(kPrivacy, account, kMostRead, [&](const Row& r) {
    if (store && r.id<IntegrationId>(1) != *store) return;
    ++standing.count;
    const bool to_answer = r.text(2) == to_string(PrivacyKind::data_request);
    if (to_answer && !standing.oldest) standing.oldest = r.time(0);
  });
  return standing;
}

std::vector<std::int64_t> count_stale_mappings(Tx& tx, std::span<const IntegrationId> stores) {
  std::vector<std::int64_t> found(stores.size());
  std::vector<Param> flat;
  for (const auto store : stores) flat.insert(flat.end(), {store, kMostRead});
  tx.query_each(kStale, 2, flat, [&](std::size_t n, const Row& r) { found[n] = r.int64(0); });
  return found;
}

int each_mapped_file(Tx& tx, IntegrationId store, int limit,
                     const std::function<void(const MappedFile&)>& fn) {
  int read = 0;
  tx.query(kMappedFiles, store, limit, [&](const Row& r) {
    ++read;
    if (!r.text(0).empty()) fn({r.string(0), r.string(1), r.string(2), r.string(3), r.string(4), r.flag(5)});
  });
  return read;
}

bool any_test_delivered(Tx& tx, AccountId account) {
  return tx.one(kTestDelivered, account, kMostRead, [](const Row&) { return true; }).value_or(false);
}

bool any_delivered(Tx& tx, std::span<const IntegrationId> stores) {
  bool any = false;
  std::vector<Param> flat;
  for (const auto store : stores) flat.insert(flat.end(), {store, kMostRead});
  tx.query_each(kDelivered, 2, flat, [&](std::size_t, const Row&) { any = true; });
  return any;
}

}  // namespace presetbridge::storage
