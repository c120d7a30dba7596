// API keys (spec 6): made, shown once, scoped, rotated, deactivated - never deleted - and checked at every
// request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "base/time.h"
#include "identity/principal.h"
#include "services/accounts/key_admissions.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/api_key_store.h"

namespace presetbridge::services {

struct NewApiKey {
  std::string name;
  identity::PermissionSet permissions = identity::kDefaultPermissions;
  identity::IntegrationScope integrations;
  std::optional<Timestamp> expires_at;
};

// The wanted changes; absent members stay.
struct ApiKeyChange {
  std::optional<std::string> name;
  std::optional<bool> active;
  std::optional<identity::PermissionSet> permissions;
  std::optional<identity::IntegrationScope> integrations;
};

struct ApiKey {
  ApiKeyId id;
  AccountId account;
  std::string name;
  std::string preview;
  bool active = false;
  identity::PermissionSet permissions;
  identity::IntegrationScope integrations;
  std::int64_t rate_limit = 0;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> last_active_at;
  std::optional<ApiKeyId> rotated_from;
  std::int64_t requests = 0;
  std::int64_t deliveries = 0;
  std::int64_t used_this_hour = 0;  // of rate_limit, in the rolling window
};

// A key and its secret text, which exists nowhere else once this is gone.
struct IssuedApiKey {
  ApiKey key;
  std::string secret;
};

class ApiKeys {
 public:
  struct Options {
    std::int64_t rate_limit = 100;  // of a new key, in `rate_window`
    Millis rate_window = std::chrono::hours{1};
    std::int64_t max_active = 50;  // an account
  };
  static constexpr Millis max_rotation_overlap = std::chrono::hours{24 * 30};
  // So that the log of one key stays a small row; and what RateWindow decodes.
  static constexpr std::int64_t max_rate_limit = 100'000;

  // All outlive this. It is destroyed after AsyncDatabase::shutdown().
  ApiKeys(storage::AsyncDatabase& async_db, IdSource& ids, Random& random, const Clock& clock, Log& log,
          Options options)
      : async_db_(async_db),
        ids_(ids),
        random_(random),
        options_(options),
        admissions_(async_db, clock, log, options.rate_window) {}

  // The requests that were over the keys' limits.
  LimitedRequests& limited() { return admissions_.limited(); }

  // create(), change() and rotate(): FORBIDDEN if `by` is no longer an owner.

  // LIMIT_REACHED: 50 active keys. VALIDATION_FAILED: an expiry in the past, an integration that is not the
  // account's.
  Task<Expected<IssuedApiKey>> create(Executor& executor, identity::Principal by, NewApiKey wanted);
  // Newest first. `active`: only those that are, or are not.
  Task<Expected<storage::Page<ApiKey>>> list(Executor& executor, identity::Principal by,
                                             storage::PageRequest page, std::optional<bool> active);
  Task<Expected<ApiKey>> get(Executor& executor, identity::Principal by, ApiKeyId id);
  // Reactivating counts against the limit of active keys. STEP_UP_REQUIRED: the key could open more, and `by`
  // has not signed in lately.
  Task<Expected<ApiKey>> change(Executor& executor, identity::Principal by, ApiKeyId id, ApiKeyChange change);
  // A new key with the old one's name, rights, limit and expiry; the old one expires after `overlap` (0:
  // deactivated at once). The integrations that the old one owns count for the new one at once (spec 2.4).
  // CONFLICT: the old one is not in force. LIMIT_REACHED: with an overlap both count as active.
  Task<Expected<IssuedApiKey>> rotate(Executor& executor, identity::Principal by, ApiKeyId id,
                                      Millis overlap);
  // The operator's, from the command line only (spec 6.1): whatever account the key is of. NOT_FOUND,
  // VALIDATION_FAILED.
  Task<Expected<ApiKey>> set_rate_limit(Executor& executor, ApiKeyId id, std::int64_t limit,
                                        std::string name = {});

  // Finds the holder of the key with this text; counts one request against its limit (key_admissions.h).
  // `text` is hostile.
  Task<KeyCheck> admit(Executor& executor, std::string text);
  // The same outside the limit, and without a trace: for the webhook endpoint (spec 2.4), inside its own
  // transaction.
  static Expected<identity::Principal> check(storage::Tx& tx, std::string_view text);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Random& random_;
  const Options options_;
  KeyAdmissions admissions_;
};

}  // namespace presetbridge::services
