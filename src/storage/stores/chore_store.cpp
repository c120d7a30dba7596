#include "storage/stores/chore_store.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"reroute",
                                                    "fail_invalid_credentials",
                                                    "fail_missing_credentials",
                                                    "fail_unavailable",
                                                    "resume_credentials",
                                                    "resume_credits",
                                                    "resume_unavailable",
                                                    "resume_mappings"};

constexpr Sql kAdd{
    "INSERT INTO account_chores (account_id, chore, generation) VALUES ($1, $2, $3) ON CONFLICT (account_id, "
    "chore) DO UPDATE SET done_to = 0, generation = account_chores.generation + 1"};
constexpr Sql kContinue{
    "INSERT INTO account_chores (account_id, chore, generation) VALUES ($1, $2, $3) ON CONFLICT (account_id, "
    "chore) DO NOTHING"};
constexpr Sql kFind{
    "SELECT account_id, chore, done_to, generation FROM account_chores ORDER BY account_id, chore LIMIT $1"};
// PostgreSQL's: a transaction keeps its locks of tables to its end. A vacuum's and a dump's are of other
// modes.
constexpr Sql kOrderWriters{
    "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted"
    " AND mode IN ('RowShareLock', 'RowExclusiveLock') AND pid <> pg_backend_pid()"
    " AND relation IN (CAST('orders' AS regclass), CAST('deliveries' AS regclass))"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"};
constexpr Sql kLock{
    "SELECT done_to, generation FROM account_chores WHERE account_id = $1 AND chore = $2 <for_update>"};
constexpr Sql kAdvance{"UPDATE account_chores SET done_to = $3 WHERE account_id = $1 AND chore = $2"};
constexpr Sql kEnd{"DELETE FROM account_chores WHERE account_id = $1 AND chore = $2"};

}  // namespace

std::string_view to_string(ChoreKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

void add_chore(Tx& tx, AccountId account, ChoreKind kind) {
  // One that ended, and comes again, has another time.
  tx.exec(kAdd, account, to_string(kind), to_unix_ms(tx.now()));
}

void continue_chore(Tx& tx, AccountId account, ChoreKind kind) {
  tx.exec(kContinue, account, to_string(kind), to_unix_ms(tx.now()));
}

std::vector<Chore> find_chores(Tx& tx, int limit) {
  std::vector<Chore> chores;
  tx.query(kFind, limit, [&](const Row& r) {
    const auto found = std::ranges::find(kNames, r.text(1));
    if (found == kNames.end()) throw DbError(DbError::Kind::misuse, "unknown chore " + r.string(1));
    chores.push_back({r.id<AccountId>(0), static_cast<ChoreKind>(found - kNames.begin()), r.id<DeliveryId>(2),
                      r.int64(3)});
  });
  return chores;
}

std::set<std::string> order_writers(Tx& tx) {
  std::set<std::string> writers;
  if (!tx.others_write()) return writers;
  tx.query(kOrderWriters, [&](const Row& r) { writers.insert(r.string(0)); });
  return writers;
}

bool lock_chore(Tx& tx, Chore& chore) {
  const auto found = tx.one(kLock, chore.account, to_string(chore.kind),
                            [](const Row& r) { return std::pair(r.id<DeliveryId>(0), r.int64(1)); });
  if (found) std::tie(chore.done_to, chore.generation) = *found;
  return found.has_value();
}
void advance_chore(Tx& tx, const Chore& chore) {
  tx.exec(kAdvance, chore.account, to_string(chore.kind), chore.done_to);
}
void end_chore(Tx& tx, const Chore& chore) {
  tx.exec(kEnd, chore.account, to_string(chore.kind));
}

}  // namespace presetbridge::storage
