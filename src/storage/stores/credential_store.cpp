#include "storage/stores/credential_store.h"

#include <algorithm>
#include <array>

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 4> kStatusNames = {"missing", "unchecked", "valid", "invalid"};

#define PDB_STANDING_COLUMNS "credentials_status, credentials_version, cloud_account_id, unreadable_login"
constexpr Sql kFindStanding{"SELECT " PDB_STANDING_COLUMNS " FROM accounts WHERE id = $1"};
constexpr Sql kLockStanding{"SELECT " PDB_STANDING_COLUMNS " FROM accounts WHERE id = $1 <for_update>"};
constexpr Sql kUpdateStanding{
    "UPDATE accounts SET credentials_status = $2, credentials_version = $3, cloud_account_id = $4, "
    "unreadable_login = $5 WHERE id = $1"};

#define PDB_CREDENTIALS_COLUMNS \
  "account_id, version, masked_email, cloud_username, saved_at, checked_at, check_due_at"
constexpr Sql kFind{"SELECT " PDB_CREDENTIALS_COLUMNS " FROM credentials WHERE account_id = $1"};
constexpr Sql kFindSealed{"SELECT version, sealed FROM credentials WHERE account_id = $1"};
// excluded.sealed would be a read of the column, which the writer may not be allowed.
constexpr Sql kPut{
    "INSERT INTO credentials (" PDB_CREDENTIALS_COLUMNS
    ", sealed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (account_id) DO UPDATE SET version = "
    "excluded.version, masked_email = excluded.masked_email, cloud_username = excluded.cloud_username, "
    "saved_at = excluded.saved_at, checked_at = excluded.checked_at, check_due_at = excluded.check_due_at, "
    "sealed = $8"};
constexpr Sql kUpdate{
    "UPDATE credentials SET cloud_username = $2, checked_at = $3, check_due_at = $4 WHERE account_id = $1"};
constexpr Sql kDelete{"DELETE FROM credentials WHERE account_id = $1"};
constexpr Sql kAny{"SELECT account_id FROM credentials LIMIT 1"};
constexpr Sql kToCheck{"SELECT " PDB_CREDENTIALS_COLUMNS
                       " FROM credentials WHERE check_due_at IS NOT NULL AND check_due_at <= $1"
                       " ORDER BY check_due_at LIMIT $2 <lock>"};
constexpr Sql kAnyToCheck{
    "SELECT account_id FROM credentials WHERE check_due_at IS NOT NULL AND check_due_at <= $1 LIMIT 1"};
constexpr Sql kTaken{"UPDATE credentials SET check_due_at = $2 WHERE account_id = $1"};

CredentialsStanding read_standing(const Row& r) {
  const auto name = std::ranges::find(kStatusNames, r.text(0));
  if (name == kStatusNames.end())
    throw DbError(DbError::Kind::misuse, "unknown credentials status " + r.string(0));
  CredentialsStanding standing{static_cast<CredentialsStatus>(name - kStatusNames.begin()), r.int64(1),
                               r.id_or_none<CloudAccountId>(2)};
  // An older program leaves the column as it was with each of its writes.
  standing.unreadable = standing.status == CredentialsStatus::invalid && r.opt_int64(3) == standing.version;
  return standing;
}

CredentialsRecord read_record(const Row& r) {
  return {r.id<AccountId>(0), r.int64(1),    r.string(2),  r.string_or_empty(3),
          r.time(4),          r.opt_time(5), r.opt_time(6)};
}

Param or_null(const std::string& text) {
  return text.empty() ? Param(nullptr) : Param(text);
}

}  // namespace

std::string_view to_string(CredentialsStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::optional<CredentialsStanding> find_standing(Tx& tx, AccountId account) {
  return tx.one(kFindStanding, account, read_standing);
}
std::vector<CredentialsStanding> find_standings(Tx& tx, std::span<const AccountId> accounts) {
  std::vector<CredentialsStanding> standings(accounts.size());
  tx.query_each(kFindStanding, 1, params_of(accounts),
                [&](std::size_t n, const Row& r) { standings[n] = read_standing(r); });
  return standings;
}
std::optional<CredentialsStanding> lock_standing(Tx& tx, AccountId account) {
  return tx.one(kLockStanding, account, read_standing);
}
void update_standing(Tx& tx, AccountId account, const CredentialsStanding& s) {
  tx.exec(kUpdateStanding, account, to_string(s.status), s.version,
          s.cloud_account ? Param(s.cloud_account) : Param(nullptr),
          s.unreadable ? Param(s.version) : Param(nullptr));
  tx.changes().push_back(changed(ChangeKind::cloud, account));
}

std::optional<CredentialsRecord> find_credentials(Tx& tx, AccountId account) {
  return tx.one(kFind, account, read_record);
}
void put_credentials(Tx& tx, const CredentialsRecord& c, Blob sealed) {
  tx.exec(kPut, c.account, c.version, c.masked_email, or_null(c.cloud_username), c.saved_at, c.checked_at,
          c.check_due_at, sealed);
  tx.changes().push_back(changed(ChangeKind::cloud, c.account));
}
void update_credentials(Tx& tx, const CredentialsRecord& c) {
  tx.exec(kUpdate, c.account, or_null(c.cloud_username), c.checked_at, c.check_due_at);
  tx.changes().push_back(changed(ChangeKind::cloud, c.account));
}
std::optional<StoredLogin> find_stored_login(Tx& tx, AccountId account) {
  return tx.one(kFindSealed, account, [](const Row& r) {
    const Blob sealed = r.bytes(1);
    return StoredLogin{r.int64(0), {sealed.begin(), sealed.end()}};
  });
}
void delete_credentials(Tx& tx, AccountId account) {
  tx.exec(kDelete, account);
  tx.changes().push_back(changed(ChangeKind::cloud, account));
}

bool has_credentials(Tx& tx) {
  return tx.one(kAny, [](const Row& r) { return r.int64(0); }).has_value();
}
bool any_credentials_to_check(Tx& tx, Timestamp now) {
  return tx.one(kAnyToCheck, now, [](const Row&) { return true; }).value_or(false);
}
std::vector<CredentialsRecord> take_credentials_to_check(Tx& tx, Timestamp now, Timestamp until, int limit) {
  std::vector<CredentialsRecord> records;
  tx.query(kToCheck, now, limit, [&](const Row& r) { records.push_back(read_record(r)); });
  for (const auto& record : records) tx.exec(kTaken, record.account, until);
  return records;
}

}  // namespace presetbridge::storage
