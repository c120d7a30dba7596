#include "services/worker/account_tasks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "domain/resolution.h"
#include "domain/trouble.h"
#include "services/delivery/remap.h"
#include "services/delivery/routing.h"
#include "services/worker/job_end.h"
#include "services/worker/work_fault.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/delivery_work.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::PendingActionKind;
using domain::ResolutionCode;
using storage::AccountTask;
using storage::AccountTaskKind;
using storage::CredentialsStatus;
using storage::Tx;

constexpr int kMostSearched = 200;  // accounts, for spare credits in one transaction

// One batch of an account task.
struct Batch {
  DeliverySet& set;
  AccountTask task;
  const PostponedDeliveries& postponed;

  // Calls `fn` for each delivery among `ids` that is not postponed, locked, and writes its changes. `fn`
  // returns whether to go on.
  template <class Fn>
  void each(const std::vector<DeliveryId>& ids, Fn fn) {
    for (const auto id : ids) {
      if (postponed.contains(id)) continue;
      try {
        auto* const row = set.delivery(id);
        if (row != nullptr && !fn(*row)) break;
        set.save();
        set.forget_orders();
      } catch (...) {
        throw WorkFault(id);
      }
    }
  }
  AccountTaskProgress end() const {
    end_account_task(set.tx(), task);
    return AccountTaskProgress::ended;
  }
  // Only postponed deliveries are left.
  AccountTaskProgress end_of_list() {
    if (postponed.empty()) return end();
    task.done_to = DeliveryId{postponed.begin()->value - 1};
    advance_account_task(set.tx(), task);
    return AccountTaskProgress::waiting;
  }
  AccountTaskProgress end_or_advance(std::size_t found) {
    if (found < kAccountTaskBatch) return end_of_list();
    advance_account_task(set.tx(), task);
    return AccountTaskProgress::under_way;
  }
};

bool failed_with(const storage::DeliveryRow& row, std::span<const ResolutionCode> codes) {
  return row.status == DeliveryStatus::failed && std::ranges::find(codes, row.resolution) != codes.end();
}

// The resolution codes of the failed deliveries that a task of this kind may resume. None: the task goes
// through all deliveries of the account.
std::span<const ResolutionCode> codes_of(AccountTaskKind kind) {
  static constexpr std::array kCredentials{ResolutionCode::credentials_missing,
                                           ResolutionCode::credentials_invalid};
  static constexpr std::array kCredits{ResolutionCode::insufficient_credits};
  static constexpr std::array kUnavailable{ResolutionCode::cloud_unavailable};
  static constexpr std::array kMappings{ResolutionCode::preset_not_found};
  switch (kind) {
    case AccountTaskKind::resume_credentials:
      return kCredentials;
    case AccountTaskKind::resume_credits:
      return kCredits;
    case AccountTaskKind::resume_unavailable:
      return kUnavailable;
    case AccountTaskKind::resume_mappings:
      return kMappings;
    case AccountTaskKind::reroute:
    case AccountTaskKind::fail_invalid_credentials:
    case AccountTaskKind::fail_missing_credentials:
    case AccountTaskKind::fail_unavailable:
      break;
  }
  return {};
}

// The deliveries of the next batch, by rising id, postponed ones included. Of failed deliveries as many more
// are read as are postponed: without a cursor these would fill the batch.
std::vector<DeliveryId> find_next(Tx& tx, const AccountTask& task, const PostponedDeliveries& postponed) {
  const auto codes = codes_of(task.kind);
  if (codes.empty()) return find_deliveries_after(tx, task.account, task.done_to, kAccountTaskBatch);
  const auto most = kAccountTaskBatch + postponed.size();
  std::vector<DeliveryId> ids;
  for (const auto code : codes)
    std::ranges::copy(find_failed_deliveries(tx, task.account, code, task.done_to, static_cast<int>(most)),
                      std::back_inserter(ids));
  std::ranges::sort(ids);
  if (ids.size() > most) ids.resize(most);
  return ids;
}

// Resumes deliveries that failed with one of the task's codes. They leave the index that finds them, so the
// task needs no cursor.
AccountTaskProgress resume_failed(Batch batch, const std::vector<DeliveryId>& ids) {
  batch.each(ids, [&](storage::DeliveryRow& row) {
    if (failed_with(row, codes_of(batch.task.kind))) resume(batch.set, row);
    return true;
  });
  return ids.size() < kAccountTaskBatch + batch.postponed.size() ? batch.end_of_list()
                                                                 : AccountTaskProgress::under_way;
}

// The credits that no open delivery of the account needs.
std::int64_t spare_credits(Tx& tx, AccountId account, const std::optional<domain::Balance>& balance) {
  const std::int64_t available = balance.value_or(domain::Balance{}).available();
  return available <= 0 ? 0 : available - count_unpaid_items(tx, account, available);
}

// Resumes the oldest deliveries first, as many items as the credits cover (spec 3.6): the task's own, of those
// that are available. Resumed deliveries may wait for their buyers for long, and spend nothing until then:
// credits that come later are for others.
AccountTaskProgress resume_credits(Batch batch, const std::vector<DeliveryId>& ids) {
  const std::int64_t available =
      lock_balance(batch.set.tx(), batch.task.account).value_or(domain::Balance{}).available();
  std::int64_t left = std::min(batch.task.credits.value_or(available), available);
  if (!ids.empty() && left > 0) batch.task.done_to = ids.back();
  batch.each(ids, [&](storage::DeliveryRow& row) {
    if (left <= 0) return false;
    if (!failed_with(row, codes_of(batch.task.kind))) return true;
    const auto costs = std::ranges::count_if(batch.set.items(row.id), [](const storage::ItemRow* item) {
      return item->status == domain::ItemStatus::owed && !item->spent && !item->former;
    });
    resume(batch.set, row);
    // It may have failed for another cause, or gone to review.
    if (row.status == DeliveryStatus::queued) left -= costs;
    return true;
  });
  batch.task.credits = left;
  return left <= 0 ? batch.end() : batch.end_or_advance(ids.size());
}

// Resumes deliveries that failed for a missing file, and that owe other files, or those of another cloud
// user, since mappings were saved or are no longer stale.
AccountTaskProgress resume_mappings(Batch batch, const std::vector<DeliveryId>& ids) {
  if (!ids.empty()) batch.task.done_to = ids.back();
  batch.each(ids, [&](storage::DeliveryRow& row) {
    if (!failed_with(row, codes_of(batch.task.kind)) || !replace_missing(batch.set, row)) return true;
    conclude_settled(batch.set, row.id, {});
    if (row.status == DeliveryStatus::failed) resume(batch.set, row);
    return true;
  });
  return batch.end_or_advance(ids.size());
}

// Calls `fn` for the batch's deliveries, and moves the cursor behind them.
template <class Fn>
AccountTaskProgress for_each_delivery(Batch batch, const std::vector<DeliveryId>& ids, Fn fn) {
  if (!ids.empty()) batch.task.done_to = ids.back();
  batch.each(ids, [&](storage::DeliveryRow& row) {
    fn(row);
    return true;
  });
  return batch.end_or_advance(ids.size());
}

bool open(const storage::DeliveryRow& row) {
  return !row.dry_run &&
         (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::waiting_for_friendship);
}

AccountTaskProgress reroute(Batch batch, const std::vector<DeliveryId>& ids,
                            const std::optional<storage::CredentialsStanding>& standing) {
  auto& set = batch.set;
  if (!standing || standing->status != CredentialsStatus::valid) return batch.end();
  return for_each_delivery(batch, ids, [&](storage::DeliveryRow& row) {
    if (row.cloud_account == standing->cloud_account) return;
    if (row.status == DeliveryStatus::processing) {
      row.pending = domain::combine(row.pending, {PendingActionKind::cloud_account_changed, "", {}});
      return set.changed(row);
    }
    // It failed in trouble of the former cloud account, where nothing retries it any more.
    if (failed_with(row, codes_of(AccountTaskKind::resume_unavailable))) return resume(set, row);
    if (!open(row)) return;
    if (row.status == DeliveryStatus::waiting_for_friendship) {
      set.apply(row, {.cause = Cause::cloud_account_changed});
    }
    queue_or_fail(set, row);
  });
}

// Fails the deliveries that the cause of `code` keeps from being served, if the cause still `stands`: the
// caller has locked and read it in this transaction.
AccountTaskProgress fail_open(Batch batch, const std::vector<DeliveryId>& ids, bool stands,
                              ResolutionCode code, std::string_view words = {}) {
  if (!stands) return batch.end();
  return for_each_delivery(batch, ids, [&](storage::DeliveryRow& row) {
    if (!open(row)) return;
    batch.set.apply(row, {.cause = Cause::known_cause, .code = code, .message = std::string(words)});
  });
}

// The trouble of the login's cloud account, whose row is locked. Nothing: there is no such account, or its
// trouble cannot be read.
std::optional<domain::AccountTrouble> lock_trouble(
    Tx& tx, const std::optional<storage::CredentialsStanding>& standing) {
  if (!standing || !standing->cloud_account) return std::nullopt;
  const auto account = lock_cloud_account(tx, standing->cloud_account);
  return account ? domain::decode_account_trouble(account->trouble) : std::nullopt;
}

// Fails the deliveries that wait for nobody but the platform, once its trouble has lasted 72 h.
AccountTaskProgress fail_unavailable(Batch batch, const std::vector<DeliveryId>& ids,
                                     const std::optional<storage::CredentialsStanding>& standing) {
  const auto trouble = lock_trouble(batch.set.tx(), standing);
  const auto since = trouble ? domain::given_up(*trouble, batch.set.now()) : std::nullopt;
  if (!since) return batch.end();
  ensure_probe(batch.set.tx(), standing->cloud_account, batch.set.now() + domain::kFailedProbeInterval);
  return for_each_delivery(batch, ids, [&](storage::DeliveryRow& row) {
    if (!open(row) || row.cloud_account != standing->cloud_account) return;
    if (row.status == DeliveryStatus::waiting_for_friendship) {
      // It waits for its customer, who can still accept. With the friendship made it waits for the platform.
      const auto customer = find_customer(batch.set.tx(), row.customer);
      if (!customer || customer->friendship != storage::Friendship::friends) return;
    }
    row.failed_trouble = since;
    batch.set.apply(row, {.cause = Cause::known_cause, .code = ResolutionCode::cloud_unavailable});
  });
}

// Resumes deliveries that failed in trouble of their cloud account, where that is over or the account's login
// is of another cloud account. Deliveries that failed alone have their own probes.
AccountTaskProgress resume_unavailable(Batch batch, const std::vector<DeliveryId>& ids,
                                       const std::optional<storage::CredentialsStanding>& standing) {
  const auto trouble = lock_trouble(batch.set.tx(), standing);
  return for_each_delivery(batch, ids, [&](storage::DeliveryRow& row) {
    if (!failed_with(row, codes_of(batch.task.kind)) || !row.failed_trouble) return;
    const bool same = standing && row.cloud_account == standing->cloud_account;
    if (same && (!trouble || domain::lasts(*trouble, *row.failed_trouble))) return;
    resume(batch.set, row);
  });
}

void complete_dry_run(DeliverySet& set, DeliveryId id) {
  auto* const row = set.delivery(id);
  if (row == nullptr || !row->dry_run || row->status != DeliveryStatus::queued) return;
  ++row->attempt_count;
  set.apply(*row, {.cause = Cause::leased});
  for (auto* const item : set.items(id)) {
    if (item->status != domain::ItemStatus::owed) continue;
    item->status = domain::ItemStatus::shared;
    item->shared_at = set.now();
    set.changed(*item);
  }
  set.apply(
      *row,
      {.cause = Cause::nothing_left_owed,
       .message =
           "Dry run: the order would have been delivered. Nothing was shared and no credit was spent."});
  set.save();
}

}  // namespace

AccountTaskProgress do_account_task_batch(Tx& tx, DeliveryChanges& changes, AccountTask task,
                                          const PostponedDeliveries& postponed) {
  // Customers and deliveries before the account, as jobs do, which come to the account's credits last.
  const auto ids = find_next(tx, task, postponed);
  hold_customers_of(tx, ids);
  hold_deliveries(tx, ids);
  const auto standing = lock_standing(tx, task.account);
  // The platform's trouble is changed, and account tasks are added at its end, under the cloud account's
  // lock.
  const bool of_platform =
      task.kind == AccountTaskKind::fail_unavailable || task.kind == AccountTaskKind::resume_unavailable;
  if (of_platform && standing && standing->cloud_account)
    lock_cloud_accounts(tx, std::array{standing->cloud_account});
  const auto [done_to, generation] = std::pair(task.done_to, task.generation);
  if (!lock_account_task(tx, task)) return AccountTaskProgress::ended;
  // Another node was faster, or the task was started again: the next deliveries are not those locked here.
  if (task.done_to != done_to || task.generation != generation) return AccountTaskProgress::under_way;
  DeliverySet set(tx, changes);
  const Batch batch{set, task, postponed};
  const auto status = standing ? standing->status : CredentialsStatus::missing;
  switch (task.kind) {
    case AccountTaskKind::reroute:
      return reroute(batch, ids, standing);
    case AccountTaskKind::fail_invalid_credentials:
      if (standing && standing->unreadable)
        return fail_open(batch, ids, true, ResolutionCode::credentials_missing, domain::kUnreadableLogin);
      return fail_open(batch, ids, status == CredentialsStatus::invalid, ResolutionCode::credentials_invalid);
    case AccountTaskKind::fail_missing_credentials:
      return fail_open(batch, ids, status == CredentialsStatus::missing, ResolutionCode::credentials_missing);
    case AccountTaskKind::fail_unavailable:
      return fail_unavailable(batch, ids, standing);
    case AccountTaskKind::resume_credentials:
      // Without a login they would fail again, and be found again, for ever.
      if (status == CredentialsStatus::missing || status == CredentialsStatus::invalid) return batch.end();
      return resume_failed(batch, ids);
    case AccountTaskKind::resume_credits:
      return resume_credits(batch, ids);
    case AccountTaskKind::resume_unavailable:
      return resume_unavailable(batch, ids, standing);
    case AccountTaskKind::resume_mappings:
      return resume_mappings(batch, ids);
  }
  return AccountTaskProgress::ended;
}

std::vector<AccountId> next_with_spare_credits(Tx& tx, AccountId& last) {
  std::vector<AccountId> found;
  for (int i = 0; i < kMostSearched; ++i) {
    const auto account = next_with_unpaid(tx, last);
    last = account.value_or(AccountId{});
    if (!account) break;
    if (spare_credits(tx, *account, find_balance(tx, *account)) > 0) found.push_back(*account);
  }
  return found;
}

void give_out_spare_credits(Tx& tx, AccountId account) {
  // A task may have given them out since: it locks the balance too.
  const auto credits = spare_credits(tx, account, lock_balance(tx, account));
  if (credits > 0) continue_giving_out(tx, account, credits);
}

std::vector<DeliveryId> next_dry_runs(Tx& tx, AccountId& last, int postponed) {
  constexpr std::size_t kMostAccounts = 8;
  std::vector<AccountId> accounts;
  while (accounts.size() < kMostAccounts) {
    const auto next = next_with_dry_runs(tx, last);
    if (!next && !last) break;
    last = next.value_or(AccountId{});
    if (!next) continue;  // from the first one again
    if (std::ranges::find(accounts, *next) != accounts.end()) break;
    accounts.push_back(*next);
  }
  std::vector<DeliveryId> ids;
  if (accounts.empty()) return ids;
  const int each = kAccountTaskBatch / static_cast<int>(accounts.size()) + postponed;
  for (const auto account : accounts)
    std::ranges::copy(find_dry_runs(tx, account, each), std::back_inserter(ids));
  last = accounts.back();
  return ids;
}

void complete_dry_runs(Tx& tx, DeliveryChanges& changes, const std::vector<DeliveryId>& ids) {
  DeliverySet set(tx, changes);
  for (const auto id : ids) {
    try {
      complete_dry_run(set, id);
    } catch (...) {
      throw WorkFault(id);
    }
  }
}

}  // namespace presetbridge::services
