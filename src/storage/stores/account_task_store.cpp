#include "storage/stores/account_task_store.h"

#include <algorithm>
#include <array>

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
constexpr Sql kGiveOut{
    "INSERT INTO account_chores (account_id, chore, generation, credits) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT (account_id, chore) DO UPDATE SET done_to = 0, generation = account_chores.generation + 1,"
    " credits = account_chores.credits + $4"};
constexpr Sql kContinueGivingOut{
    "INSERT INTO account_chores (account_id, chore, generation, credits) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT (account_id, chore) DO NOTHING"};
constexpr Sql kFind{
    "SELECT account_id, chore, done_to, generation, credits FROM account_chores ORDER BY account_id, chore "
    "LIMIT $1"};
// PostgreSQL's: a transaction keeps its locks of tables to its end. A vacuum's and a dump's are of other
// modes.
constexpr Sql kOrderWriters{
    "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted"
    " AND mode IN ('RowShareLock', 'RowExclusiveLock') AND pid <> pg_backend_pid()"
    " AND relation IN (CAST('orders' AS regclass), CAST('deliveries' AS regclass))"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"};
constexpr Sql kLock{
    "SELECT done_to, generation, credits FROM account_chores WHERE account_id = $1 AND chore = $2 "
    "<for_update>"};
constexpr Sql kAdvance{
    "UPDATE account_chores SET done_to = $3, credits = $4 WHERE account_id = $1 AND chore = $2"};
constexpr Sql kEnd{"DELETE FROM account_chores WHERE account_id = $1 AND chore = $2"};

}  // namespace

std::string_view to_string(AccountTaskKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

void add_account_task(Tx& tx, AccountId account, AccountTaskKind kind) {
  // One that ended, and comes again, has another time.
  tx.exec(kAdd, account, to_string(kind), to_unix_ms(tx.now()));
}

void continue_account_task(Tx& tx, AccountId account, AccountTaskKind kind) {
  tx.exec(kContinue, account, to_string(kind), to_unix_ms(tx.now()));
}

void give_out_credits(Tx& tx, AccountId account, std::int64_t credits) {
  tx.exec(kGiveOut, account, to_string(AccountTaskKind::resume_credits), to_unix_ms(tx.now()), credits);
}

void continue_giving_out(Tx& tx, AccountId account, std::int64_t credits) {
  tx.exec(kContinueGivingOut, account, to_string(AccountTaskKind::resume_credits), to_unix_ms(tx.now()),
          credits);
}

std::vector<AccountTask> find_account_tasks(Tx& tx, int limit) {
  std::vector<AccountTask> tasks;
  tx.query(kFind, limit, [&](const Row& r) {
    const auto found = std::ranges::find(kNames, r.text(1));
    if (found == kNames.end()) throw DbError(DbError::Kind::misuse, "unknown account task " + r.string(1));
    tasks.push_back({r.id<AccountId>(0), static_cast<AccountTaskKind>(found - kNames.begin()),
                     r.id<DeliveryId>(2), r.int64(3), r.opt_int64(4)});
  });
  return tasks;
}

std::set<std::string> order_writers(Tx& tx) {
  std::set<std::string> writers;
  if (!tx.others_write()) return writers;
  tx.query(kOrderWriters, [&](const Row& r) { writers.insert(r.string(0)); });
  return writers;
}

bool lock_account_task(Tx& tx, AccountTask& task) {
  return tx
      .one(kLock, task.account, to_string(task.kind),
           [&](const Row& r) {
             task.done_to = r.id<DeliveryId>(0);
             task.generation = r.int64(1);
             task.credits = r.opt_int64(2);
             return true;
           })
      .has_value();
}
void advance_account_task(Tx& tx, const AccountTask& task) {
  tx.exec(kAdvance, task.account, to_string(task.kind), task.done_to, task.credits);
}
void end_account_task(Tx& tx, const AccountTask& task) {
  tx.exec(kEnd, task.account, to_string(task.kind));
}

}  // namespace presetbridge::storage
