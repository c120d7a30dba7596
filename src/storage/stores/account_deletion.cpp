#include "storage/stores/account_deletion.h"

#include <vector>

#include "storage/stores/people_store.h"

namespace presetbridge::storage {
namespace {

constexpr Sql kArchive{
    "UPDATE integrations SET archived_at = $2, version = version + 1 WHERE account_id = $1 AND archived_at "
    "IS "
    "NULL"};
constexpr Sql kForgetOrigins{
    "DELETE FROM store_origins WHERE integration_id IN (SELECT id FROM integrations WHERE account_id = $1)"};
constexpr Sql kDeactivateKeys{"UPDATE api_keys SET active = 0 WHERE account_id = $1 AND active = 1"};
constexpr Sql kUnsubscribe{"DELETE FROM webhook_subscriptions WHERE account_id = $1"};
// Unless it is another account's user too.
constexpr Sql kForgetCloudUser{
    "UPDATE cloud_accounts SET username = '' WHERE id = (SELECT cloud_account_id FROM accounts WHERE id = $1)"
    " AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.cloud_account_id = cloud_accounts.id"
    " AND accounts.id <> $1)"};
constexpr Sql kForgetMerchant{
    "UPDATE accounts SET name = 'deleted account', display_name = '', support_email = '', support_url = '',"
    " deleted_at = $2 WHERE id = $1"};
constexpr Sql kAuditWithDetails{
    "SELECT audit_log.id FROM accounts JOIN audit_log ON audit_log.account_id = accounts.id"
    " WHERE accounts.deleted_at IS NOT NULL AND (audit_log.network <> '' OR audit_log.changes <> '') LIMIT "
    "$1"};
constexpr Sql kBlankEntry{"UPDATE audit_log SET network = '', changes = '' WHERE id = $1"};

}  // namespace

void delete_account_data(Tx& tx, AccountId account) {
  tx.exec(kArchive, account, tx.now());
  tx.exec(kForgetOrigins, account);
  tx.exec(kDeactivateKeys, account);
  tx.exec(kUnsubscribe, account);
  delete_invitations_of(tx, account);
  tx.exec(kForgetCloudUser, account);
  tx.exec(kForgetMerchant, account, tx.now());
}

std::int64_t blank_audit_of_deleted(Tx& tx, int limit) {
  std::vector<Param> entries;
  tx.query(kAuditWithDetails, limit, [&](const Row& r) { entries.emplace_back(r.int64(0)); });
  if (!entries.empty()) tx.exec_many(kBlankEntry, 1, entries);
  return std::ssize(entries);
}

}  // namespace presetbridge::storage
