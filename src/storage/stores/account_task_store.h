// Account tasks, the rows of `account_chores`: each is the effect of one event on many deliveries of an
// account, carried out in small transactions and continued after a crash (spec 3.5, 3.6, 3.11). An account
// has at most one of each kind. services/worker/account_tasks.h carries them out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

enum class AccountTaskKind {
  reroute,                   // point queued and waiting deliveries at the account's cloud account
  fail_invalid_credentials,  // the platform refused the login
  fail_missing_credentials,  // the login was deleted
  fail_unavailable,          // the platform has been away for 72 h
  resume_credentials,
  resume_credits,
  resume_unavailable,
  resume_mappings,  // mappings were saved: what failed as preset_not_found may owe other files now
};

std::string_view to_string(AccountTaskKind kind);

struct AccountTask {
  AccountId account;
  AccountTaskKind kind = AccountTaskKind::reroute;
  DeliveryId done_to;           // the next batch is of deliveries after this one; none: of the first
  std::int64_t generation = 0;  // another one each time that the task starts from the first delivery
  // How many items resume_credits may still resume. None: as many as credits are available; other tasks have none.
  std::optional<std::int64_t> credits = std::nullopt;
};

// Adds the task, or starts one that is under way from the first delivery again.
void add_account_task(Tx& tx, AccountId account, AccountTaskKind kind);
// Adds the task; one that is under way goes on from where it is.
void continue_account_task(Tx& tx, AccountId account, AccountTaskKind kind);
// Adds resume_credits for `credits` items, more than 0, or lets it resume so many more, from the first delivery
// on.
void give_out_credits(Tx& tx, AccountId account, std::int64_t credits);
// Adds resume_credits for `credits` items; one that is under way goes on as it is.
void continue_giving_out(Tx& tx, AccountId account, std::int64_t credits);
// Returns tasks of all accounts, by account and kind; locks nothing. Throws DbError for a kind that is not known.
std::vector<AccountTask> find_account_tasks(Tx& tx, int limit);
// Transactions under way, of whatever node, that have locked or written an order or a delivery: among them
// are all that have read an account's login or credits and not yet committed what deliveries they made of it,
// because they lock or write one before they read that. Each has another name. None with SQLite, where one
// writes at a time.
std::set<std::string> order_writers(Tx& tx);
// Locks the task and reads all else of it into `task`. Returns false where it is gone:
// another node has finished it.
bool lock_account_task(Tx& tx, AccountTask& task);
// Writes its `done_to` and `credits`. The caller holds the lock, here and below.
void advance_account_task(Tx& tx, const AccountTask& task);
// Deletes it.
void end_account_task(Tx& tx, const AccountTask& task);

}  // namespace presetbridge::storage
