#include "services/accounts/api_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "crypto/api_key.h"
#include "domain/rate_window.h"
#include "identity/audit.h"
#include "services/accounts/account_lock.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {

using identity::IntegrationScope;
using identity::PermissionSet;
using identity::Principal;
using storage::ApiKeyRow;
using storage::Tx;

namespace {

// A log that cannot be read counts as full.
std::int64_t used_this_hour(const ApiKeyRow& row, Millis window, Timestamp now) {
  const auto log = domain::RateWindow::decode(row.rate_limit, window, row.rate_log);
  return log ? row.rate_limit - log->peek(now).remaining : row.rate_limit;
}

ApiKey to_key(const ApiKeyRow& row, Millis window, Timestamp now) {
  return {row.id,
          row.account,
          row.name,
          row.preview,
          row.active,
          PermissionSet::from_text(row.permissions),
          IntegrationScope::from_text(row.integration_ids),
          row.rate_limit,
          row.created_at,
          row.expires_at,
          row.last_active_at,
          row.rotated_from,
          row.requests,
          row.deliveries,
          used_this_hour(row, window, now)};
}

std::unexpected<Error> no_such_key() {
  return fail("NOT_FOUND", "There is no such API key.");
}

// Whether the key may open what it did not: as good as a new one (spec 7.2).
bool opens_more(const ApiKeyRow& row, const ApiKeyChange& change) {
  return (change.active && *change.active && !row.active) ||
         (change.permissions && change.permissions->to_text() != row.permissions) ||
         (change.integrations && change.integrations->to_text() != row.integration_ids);
}

std::optional<ApiKeyRow> find_by_text(Tx& tx, std::string_view text) {
  if (!crypto::is_well_formed_api_key(text)) return std::nullopt;
  return storage::find_api_key_by_hash(tx, crypto::api_key_hash(text));
}

// Throws VALIDATION_FAILED unless all are integrations of the account, which rolls back.
void check_scope(Tx& tx, AccountId account, const IntegrationScope& scope) {
  std::vector<FieldProblem> problems;
  for (const auto id : scope.ids()) {
    const auto integration = storage::find_integration(tx, id);
    if (!integration || integration->account != account) {
      problems.push_back(
          {"integrationIds", to_string(id) + " is not the id of one of your stores (GET /api/integrations)"});
    }
  }
  if (!problems.empty())
    throw Error{"VALIDATION_FAILED", "The request has fields that are not valid.", problems};
}

// The caller holds the account's lock.
void check_limit(Tx& tx, AccountId account, std::int64_t max_active) {
  if (storage::count_active_api_keys(tx, account) >= max_active) {
    throw Error{"LIMIT_REACHED",
                fmt::format("An account has at most {} active API keys; deactivate one first.", max_active),
                {}};
  }
}

// As the API writes them.
std::string scope_words(std::string_view stored) {
  std::string words;
  for (const auto id : identity::IntegrationScope::from_text(stored).ids())
    words.append(words.empty() ? "" : ", ").append(to_string(id));
  return words.empty() ? "all" : words;
}

void audit(Tx& tx, IdSource& ids, const Principal& by, std::string_view action, ApiKeyId key,
           std::string_view detail, std::vector<identity::ChangedField> changes = {}) {
  identity::audit(tx, ids, by, {action, to_string(key), std::string(detail), std::move(changes)});
}

}  // namespace

Task<Expected<IssuedApiKey>> ApiKeys::create(Executor& executor, Principal by, NewApiKey wanted) {
  const auto secret = crypto::generate_api_key(random_);
  auto key = co_await async_db_.write(executor, [&](Tx& tx) {
    lock_account_of_owner(tx, by);
    if (wanted.expires_at && *wanted.expires_at <= tx.now()) {
      throw Error{"VALIDATION_FAILED",
                  "The request has fields that are not valid.",
                  {{"expiresAt", "is in the past"}}};
    }
    check_limit(tx, by.account, options_.max_active);
    check_scope(tx, by.account, wanted.integrations);
    ApiKeyRow row;
    row.id = ids_.make<ApiKeyId>();
    row.account = by.account;
    row.name = wanted.name;
    row.preview = crypto::api_key_preview(secret);
    row.permissions = wanted.permissions.to_text();
    row.integration_ids = wanted.integrations.to_text();
    row.rate_limit = options_.rate_limit;
    row.created_at = tx.now();
    row.expires_at = wanted.expires_at;
    storage::insert_api_key(tx, row, crypto::api_key_hash(secret));
    audit(tx, ids_, by, "api_key.created", row.id, row.permissions);
    return to_key(row, options_.rate_window, tx.now());
  });
  if (!key) co_return std::unexpected(key.error());
  co_return IssuedApiKey{std::move(*key), secret};
}

Task<Expected<storage::Page<ApiKey>>> ApiKeys::list(Executor& executor, Principal by,
                                                    storage::PageRequest page, std::optional<bool> active) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    const auto rows = storage::list_api_keys(tx, by.account, page, active);
    storage::Page<ApiKey> keys{{}, rows.next};
    for (const auto& row : rows.rows) keys.rows.push_back(to_key(row, options_.rate_window, tx.now()));
    return keys;
  });
}

Task<Expected<ApiKey>> ApiKeys::get(Executor& executor, Principal by, ApiKeyId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<ApiKey> {
    const auto row = storage::find_api_key(tx, by.account, id);
    if (!row) return no_such_key();
    return to_key(*row, options_.rate_window, tx.now());
  });
}

Task<Expected<ApiKey>> ApiKeys::change(Executor& executor, Principal by, ApiKeyId id, ApiKeyChange change) {
  auto changed = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<ApiKey> {
    lock_account_of_owner(tx, by);
    auto row = storage::lock_api_key(tx, by.account, id);
    if (!row) return no_such_key();
    if (opens_more(*row, change) && !by.signed_in_lately(tx.now()))
      return std::unexpected(Principal::step_up_required());
    if (change.name && *change.name != row->name) {
      const auto before = std::exchange(row->name, *change.name);
      audit(tx, ids_, by, "api_key.renamed", id, row->name, {{"name", before, row->name}});
    }
    if (change.active && *change.active != row->active) {
      row->active = *change.active;
      if (holder_of(*row, tx.now())) check_limit(tx, by.account, options_.max_active);
      audit(tx, ids_, by, row->active ? "api_key.reactivated" : "api_key.deactivated", id, "");
    }
    if (change.permissions && change.permissions->to_text() != row->permissions) {
      const auto before = std::exchange(row->permissions, change.permissions->to_text());
      audit(tx, ids_, by, "api_key.permissions_changed", id, row->permissions,
            {{"permissions", before, row->permissions}});
    }
    if (change.integrations && change.integrations->to_text() != row->integration_ids) {
      check_scope(tx, by.account, *change.integrations);
      const auto before = std::exchange(row->integration_ids, change.integrations->to_text());
      audit(tx, ids_, by, "api_key.scope_changed", id, scope_words(row->integration_ids),
            {{"integrationIds", scope_words(before), scope_words(row->integration_ids)}});
    }
    storage::update_api_key(tx, *row);
    return to_key(*row, options_.rate_window, tx.now());
  });
  if (changed) admissions_.forget(id);
  co_return changed;
}

Task<Expected<IssuedApiKey>> ApiKeys::rotate(Executor& executor, Principal by, ApiKeyId id, Millis overlap) {
  const auto secret = crypto::generate_api_key(random_);
  overlap = std::clamp(overlap, Millis{0}, max_rotation_overlap);
  auto key = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<ApiKey> {
    lock_account_of_owner(tx, by);
    auto old = storage::lock_api_key(tx, by.account, id);
    if (!old) return no_such_key();
    if (!holder_of(*old, tx.now()))
      return fail("CONFLICT", "Only a key that is active and not expired can be rotated.");
    // Its expiry is the end of the overlap, which is none of the successor's.
    if (old->expires_at && storage::is_rotated(tx, by.account, id))
      return fail("CONFLICT",
                  "This key was rotated before, and ends soon: rotate its successor, or create a key.");

    ApiKeyRow fresh = *old;
    fresh.id = ids_.make<ApiKeyId>();
    fresh.preview = crypto::api_key_preview(secret);
    fresh.created_at = tx.now();
    fresh.last_active_at = std::nullopt;
    fresh.rotated_from = id;
    fresh.requests = 0;
    fresh.deliveries = 0;
    fresh.rate_log.clear();

    if (overlap == Millis{0}) {
      old->active = false;
    } else {
      const auto end = tx.now() + overlap;
      old->expires_at = old->expires_at ? std::min(*old->expires_at, end) : end;
      check_limit(tx, by.account, options_.max_active);
    }
    storage::update_api_key(tx, *old);
    storage::insert_api_key(tx, fresh, crypto::api_key_hash(secret));
    storage::replace_owning_key(tx, by.account, id, fresh.id);
    audit(tx, ids_, by, "api_key.rotated", id, "replaced by " + to_string(fresh.id));
    return to_key(fresh, options_.rate_window, tx.now());
  });
  if (!key) co_return std::unexpected(key.error());
  co_return IssuedApiKey{std::move(*key), secret};
}

Task<Expected<ApiKey>> ApiKeys::set_rate_limit(Executor& executor, ApiKeyId id, std::int64_t limit,
                                               std::string name) {
  if (limit < 1 || limit > max_rate_limit) {
    co_return fail("VALIDATION_FAILED", fmt::format("A rate limit lies between 1 and {}.", max_rate_limit));
  }
  auto limited = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<ApiKey> {
    const auto found = storage::find_api_key(tx, id);
    if (!found) return no_such_key();
    auto row = storage::lock_api_key(tx, found->account, id);
    if (!row) return no_such_key();
    const auto changes =
        identity::json_of({{"rateLimit", std::to_string(row->rate_limit), std::to_string(limit)}});
    row->rate_limit = limit;
    storage::update_api_key(tx, *row);
    storage::insert_audit(tx, ids_,
                          {.account = row->account,
                           .actor = "operator",
                           .action = "api_key.rate_limit_changed",
                           .target = to_string(id),
                           .detail = std::to_string(limit),
                           .changes = changes,
                           .actor_name = name});
    return to_key(*row, options_.rate_window, tx.now());
  });
  if (limited) admissions_.forget(id);
  co_return limited;
}

Task<KeyCheck> ApiKeys::admit(Executor& executor, std::string text) {
  // Nothing is asked of the database for what cannot be a key.
  if (!crypto::is_well_formed_api_key(text)) co_return KeyCheck{unknown_key(), std::nullopt};
  co_return co_await admissions_.admit(executor, crypto::api_key_hash(text));
}

Expected<Principal> ApiKeys::check(Tx& tx, std::string_view text) {
  const auto row = find_by_text(tx, text);
  if (!row) return unknown_key();
  return holder_of(*row, tx.now());
}

}  // namespace presetbridge::services
