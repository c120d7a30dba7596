// Store integrations and their item mappings (spec 2.10, 9.1, 9.2). Secrets are stored encrypted under the
// service key.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "domain/mapping.h"
#include "domain/order_event.h"
#include "storage/database.h"

namespace presetbridge::storage {

// The secrets of a store are encrypted for the crypto::ValuePlace {kStoreSecret, id}.
inline constexpr std::string_view kStoreSecret = "integrations.secret";
// The origin of a store's secret: the service made it, or a merchant entered it; unknown: an older program set it.
enum class SecretSetBy { unknown, service, merchant };
std::string_view to_string(SecretSetBy by);  // empty: unknown
std::optional<SecretSetBy> parse_secret_set_by(std::string_view text);
struct IntegrationRow {
  IntegrationId id;
  AccountId account;
  std::string name;
  domain::Provider provider = domain::Provider::generic;
  std::int64_t version = 1;  // grows with every change of the row or of its mappings
  std::vector<std::byte> encrypted_secret;
  std::string secret_preview;
  std::vector<std::byte> encrypted_previous_secret;  // empty: none
  std::optional<Timestamp> previous_secret_expires_at;
  std::vector<std::byte> encrypted_older_secret;  // the one before the previous one; empty: none
  std::optional<Timestamp> older_secret_expires_at;
  // Known where `secret_noted_for` is `secret_preview`: a program of before writes neither of the three.
  SecretSetBy secret_set_by = SecretSetBy::unknown;
  std::optional<Timestamp> secret_changed_at;  // nothing: never since the store was added, or not known
  std::string secret_noted_for;                // empty: nothing is known
  bool active = true;
  std::optional<Timestamp> archived_at;
  ApiKeyId owning_key;
  bool require_api_key = false;
  bool hold_all = false;
  bool deliver_test_orders = false;
  bool auto_revoke = false;
  std::vector<std::string> username_fields;
  Timestamp created_at;
  bool operator==(const IntegrationRow&) const = default;
};

void insert_integration(Tx& tx, const IntegrationRow& row);
std::optional<IntegrationRow> find_integration(Tx& tx, IntegrationId id);
std::optional<IntegrationRow> lock_integration(Tx& tx, IntegrationId id);
// Newest first, older than `before` (none: from the newest); archived ones left out.
std::vector<IntegrationRow> list_integrations(Tx& tx, AccountId account, IntegrationId before, int limit);
// Archived ones only; newest first, older than `before` (none: from the newest).
std::vector<IntegrationRow> list_archived_integrations(Tx& tx, AccountId account, IntegrationId before,
                                                       int limit);
std::int64_t count_integrations(Tx& tx, AccountId account);
// Writes every member that may change; row.version grows by one.
void update_integration(Tx& tx, IntegrationRow& row);
// The versions alone, for the acceptance of orders. 0: no such integration.
std::vector<std::int64_t> integration_versions(Tx& tx, std::span<const IntegrationId> ids);
// Reads by primary keys alone, for ids from the addresses of orders, which anybody may have made up.
struct IntegrationVersion {
  std::int64_t version = 0;  // 0: no such integration, or archived
  AccountId account;
};
std::vector<IntegrationVersion> find_integration_versions(Tx& tx, std::span<const IntegrationId> ids);
// The settings of a store that change how its orders are handled.
struct OrderSettings {
  bool hold_all = false;
  bool auto_revoke = false;
};
// In the order of the ids; both are false where there is no such integration.
std::vector<OrderSettings> find_order_settings(Tx& tx, std::span<const IntegrationId> ids);
// Gives the account's integrations that the old key owns to the new one.
void replace_owning_key(Tx& tx, AccountId account, ApiKeyId old_key, ApiKeyId new_key);

struct MappingRow {
  domain::Mapping mapping;       // value: normalised
  std::string match_value;       // as the merchant wrote it
  bool stale = false;            // made for another cloud account than the account's present one
  CloudAccountId made_for = {};  // for which its file was chosen; none: there was no login yet
};
std::vector<MappingRow> find_mappings(Tx& tx, IntegrationId integration);
// The number of mappings of each.
std::vector<std::int64_t> count_mappings(Tx& tx, std::span<const IntegrationId> integrations);

// The most rows of mappings in one transaction: others wait no longer than for these (spec 8.6).
inline constexpr int kMappingBatch = 500;

// A save of all mappings of an integration, in as many transactions as it needs: begin_mappings() gives it
// a generation of its own, stage_mappings() adds rows, which nobody reads, and use_mappings() puts them in
// force and makes remains of the rows that were in force. If there are two saves at a time, the one that is
// used last is in force as a whole. The rows of a save that ended before use_mappings() are remains from
// `give_up_at` on.
struct MappingSave {
  IntegrationId integration;
  std::int64_t generation = 0;
  CloudAccountId made_for;  // the account's cloud account when the save began; none: there never was one
};
MappingSave begin_mappings(Tx& tx, IntegrationId integration, Timestamp give_up_at);
// A row that is stale stays that of its `made_for`; all others are made for the account's cloud account.
void stage_mappings(Tx& tx, const MappingSave& save, std::span<const MappingRow> rows);
// Locks the integration, whose version grows. `count` rows were staged. False, and nothing is done, if they
// are not all there (an older program has saved meanwhile), or if the account has another cloud account by
// now.
bool use_mappings(Tx& tx, const MappingSave& save, std::int64_t count);
// The staged rows are remains from now on.
void give_up_mappings(Tx& tx, const MappingSave& save);

// Rows that are not in force, and are to be deleted.
struct MappingRemains {
  IntegrationId integration;
  std::int64_t generation = 0;
};
std::vector<MappingRemains> find_mapping_remains(Tx& tx, int limit);
std::vector<MappingRemains> find_mapping_remains(Tx& tx, IntegrationId integration);
// Deletes at most `limit` of them; returns how many. Fewer than `limit`: there are no more.
std::int64_t delete_mapping_remains(Tx& tx, const MappingRemains& remains, int limit);

// A whole save in one transaction, whatever its size.
void replace_mappings(Tx& tx, IntegrationId integration, const std::vector<MappingRow>& rows);
struct MappingsOfLogin {
  std::int64_t made_stale = 0;  // that were not before
  std::int64_t lifted = 0;      // that were stale, and are no longer
};
// The account's login is of this cloud account now (spec 3.11): mappings that were made for another one
// become stale, those made for it are stale no longer, and those saved before there was any login belong to
// it from now on. The versions of the account's integrations grow if mappings became stale or were stale.
// Waits for transactions that save mappings of the account.
MappingsOfLogin match_mappings_to_login(Tx& tx, AccountId account, CloudAccountId cloud_account);

}  // namespace presetbridge::storage
