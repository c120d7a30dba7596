// A merchant's stores and their item mappings (spec 9.1, 9.2). Signing secrets are shown when they are made
// and never again; they are stored encrypted at {"integrations.secret", id}.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/service_cipher.h"
#include "identity/principal.h"
#include "services/stores/integration_directory.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/store_activity_store.h"

namespace presetbridge::services {

// The wanted changes; absent members stay.
struct IntegrationChange {
  std::optional<std::string> name;
  std::optional<bool> active;
  std::optional<ApiKeyId> owning_key;  // the none-id: no key
  std::optional<bool> require_api_key;
  std::optional<bool> hold_all;
  std::optional<bool> deliver_test_orders;
  std::optional<bool> auto_revoke;
  std::optional<std::vector<std::string>> username_fields;
};
struct NewIntegration {
  domain::Provider provider = domain::Provider::generic;
  std::string name;
  std::optional<std::string> secret;  // one that the store dictates
  IntegrationChange settings;         // its name is not read
};
// Whether the store's secret was entered, not made here. Where that is not known, as a program of before set the secret, it counts as made
// here if it has the size of those that are.
bool has_entered_secret(const storage::IntegrationRow& row);
// When another secret last replaced the store's; nothing: never since the store was added, or not known.
std::optional<Timestamp> secret_changed_at(const storage::IntegrationRow& row);
struct IntegrationView {
  storage::IntegrationRow row;
  std::int64_t mappings = 0;
  storage::StoreActivity activity = {};  // its hours: of the last 24
};
struct IssuedIntegration {
  IntegrationView integration;
  std::string secret;
};
struct IntegrationFilter {
  std::optional<domain::Provider> provider;
  std::optional<bool> active;
  bool archived = false;  // these alone; else they are left out
};

struct WantedMapping {
  domain::MatchType type = domain::MatchType::sku;
  std::string match_value;
  domain::MappingAction action = domain::MappingAction::deliver;
  std::string file_id;
  std::string kind;
  std::string file_name;
  bool stale = false;  // one that is stale as it is saved stays so; of any other it counts for nothing
};
// spec 2.14.
struct MappingLimits {
  std::size_t of_store = 5'000;
  std::size_t of_key = 100;  // of one match type and value
};
// The problem of one of the wanted mappings.
struct MappingProblem {
  std::size_t index = 0;
  std::string_view field;  // a literal; empty: the mapping itself
  std::string problem;
};
// The rows that `wanted` asks for, without ids, and all that is wrong with it. `place`: how a problem names
// another mapping, by its index.
struct CheckedMappings {
  std::vector<storage::MappingRow> rows;
  std::vector<MappingProblem> problems;
};
CheckedMappings check_mappings(const std::vector<WantedMapping>& wanted, const MappingLimits& limits,
                               const std::function<std::string(std::size_t)>& place);
// Sets `stale` and `made_for` of each wanted row: of one that asks to be stale, and is so as it is saved, to what
// is saved. Returns the saved row of each key and file that `wanted` has; null: it is new.
std::vector<const storage::MappingRow*> match_saved(std::vector<storage::MappingRow>& wanted,
                                                    const std::vector<storage::MappingRow>& saved);
// VALIDATION_FAILED with the problems, as "mappings[3].fileId".
Expected<std::vector<storage::MappingRow>> checked_mappings(const std::vector<WantedMapping>& wanted,
                                                            const MappingLimits& limits);

struct MappingSet {
  std::int64_t version = 0;  // the integration's
  std::vector<storage::MappingRow> mappings;
};

// Thread-safe. Another account's integration, one outside the key's scope, and an archived one are NOT_FOUND.
class Integrations {
 public:
  static constexpr std::int64_t max_integrations = 500;  // an account, archived ones left out
  static constexpr Millis default_overlap = std::chrono::hours{24};
  static constexpr Millis max_overlap = std::chrono::hours{24 * 30};

  // All outlive this. `changed` is called, on any thread, when there may be new work for the delivery worker.
  Integrations(storage::AsyncDatabase& async_db, IdSource& ids, Random& random,
               const crypto::ServiceCipher& cipher, IntegrationDirectory& directory,
               std::function<void()> changed, MappingLimits limits = {})
      : async_db_(async_db),
        ids_(ids),
        random_(random),
        cipher_(cipher),
        directory_(directory),
        changed_(std::move(changed)),
        limits_(limits) {}

  const MappingLimits& limits() const { return limits_; }

  // LIMIT_REACHED; FORBIDDEN for a scoped key, which could not see what it makes; VALIDATION_FAILED for an
  // owning key that is not the account's.
  Task<Expected<IssuedIntegration>> create(Executor& executor, identity::Principal by, NewIntegration wanted);
  // Newest first. A page scans at most max_integrations of the archived ones, which have no bound: it may
  // hold fewer than its limit, and there may be more all the same.
  Task<Expected<storage::Page<IntegrationView>>> list(Executor& executor, identity::Principal by,
                                                      IntegrationFilter filter, storage::PageRequest page);
  Task<Expected<IntegrationView>> get(Executor& executor, identity::Principal by, IntegrationId id);
  Task<Expected<IntegrationView>> change(Executor& executor, identity::Principal by, IntegrationId id,
                                         IntegrationChange change);
  // Its webhook address is 404 from now on (spec 2.14); orders and deliveries stay.
  Task<Expected<void>> archive(Executor& executor, identity::Principal by, IntegrationId id);
  // The old secret verifies for `overlap` more, beside a former one that has not ended (secret_rotation.h).
  // If `secret` is the store's already, it counts as entered from now on, and an `overlap` of 0 ends all former ones; nothing else changes.
  Task<Expected<IssuedIntegration>> rotate_secret(Executor& executor, identity::Principal by,
                                                  IntegrationId id, std::optional<std::string> secret,
                                                  Millis overlap);

  Task<Expected<MappingSet>> mappings(Executor& executor, identity::Principal by, IntegrationId id);
  // All or nothing: VALIDATION_FAILED has the problems with their positions, as "mappings[3].fileId". A
  // mapping that was there keeps its id. `version`: CONFLICT unless the integration is still that; without it
  // the last of several saves at one time stands, whole. CONFLICT too where the account's login keeps
  // becoming other users'. Deliveries that failed as preset_not_found and owe other files now are resumed.
  Task<Expected<MappingSet>> replace_mappings(Executor& executor, identity::Principal by, IntegrationId id,
                                              std::optional<std::int64_t> version,
                                              std::vector<WantedMapping> wanted);

 private:
  // One try of a save whose rows have their ids; nothing where it has to begin again.
  Task<Expected<std::optional<MappingSet>>> save_mappings(Executor& executor, const identity::Principal& by,
                                                          IntegrationId id,
                                                          std::optional<std::int64_t> version,
                                                          const std::vector<storage::MappingRow>& rows);
  // Deletes what a save, or what it replaced, has left, batch by batch; what it cannot housekeeping does.
  Task<void> delete_remains(Executor& executor, IntegrationId id);

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Random& random_;
  const crypto::ServiceCipher& cipher_;
  IntegrationDirectory& directory_;
  const std::function<void()> changed_;
  const MappingLimits limits_;
};

}  // namespace presetbridge::services
