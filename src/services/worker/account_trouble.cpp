#include "services/worker/account_trouble.h"

#include <algorithm>

#include "domain/account_pause.h"
#include "storage/chore_store.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr Millis kOpenAgain{15 * 60'000};  // a login that could not be opened is tried again

// Nothing is decided from a pause that cannot be read, and it is left as it is: the next lease closes the
// queue, tells of it and mends it.
std::optional<domain::AccountPause> pause_of(const storage::CloudAccountRow& account) {
  return domain::decode_account_pause(account.pause);
}

void put(Tx& tx, storage::CloudAccountRow& account, const domain::AccountPause& before,
         const domain::AccountPause& pause) {
  if (pause.reason != before.reason && pause.reason != domain::PauseReason::none)
    tx.news().platform.push_back({account.id, domain::to_string(pause.reason)});
  account.pause = domain::encode(pause);
  if (const auto next = domain::next_job_at(pause, tx.now())) {
    account.blocked_until = std::max(account.blocked_until, *next);
  }
  if (domain::paused(pause, tx.now())) {
    // During an outage a sweep is the probe: it reads, and risks no delivery.
    if (pause.reason == domain::PauseReason::outage) account.sweep_due_at = account.blocked_until;
    account.ready_at = account.blocked_until;
  }
  update_cloud_account(tx, account);
}

}  // namespace

void give_up(Tx& tx, CloudAccountId id, const domain::AccountPause& pause) {
  if (!domain::given_up(pause, tx.now()) || !any_queued_delivery(tx, id)) return;
  for (const auto owner : accounts_of_cloud_account(tx, id)) {
    continue_chore(tx, owner, storage::ChoreKind::fail_unavailable);
  }
}

bool pause_after_failure(Tx& tx, CloudAccountId id, DeliveryId delivery) {
  auto account = lock_cloud_account(tx, id);
  if (!account) return false;
  const auto before = pause_of(*account);
  if (!before) return false;
  const auto pause = domain::after_transient_failure(*before, delivery, tx.now());
  put(tx, *account, *before, pause);
  give_up(tx, id, pause);
  return pause.reason != domain::PauseReason::none;
}

void pause_for_rate_limit(Tx& tx, CloudAccountId id, std::optional<Millis> retry_after) {
  auto account = lock_cloud_account(tx, id);
  if (!account) return;
  if (const auto before = pause_of(*account)) {
    put(tx, *account, *before, domain::after_rate_limit(*before, retry_after, tx.now()));
  }
}

void end_account_trouble(Tx& tx, CloudAccountId id) {
  auto account = lock_cloud_account(tx, id);
  if (!account) return;
  const auto before = pause_of(*account);
  if (!before) return;
  const auto after = domain::after_success(*before);
  if (after == *before) return;
  if (before->reason != domain::PauseReason::none) tx.news().platform.push_back({id, {}});
  account->pause = domain::encode(after);
  // The pause, or the next probe, was to end later; what the queue limit forbids is worked out anew at the
  // next lease.
  account->blocked_until = tx.now();
  update_cloud_account(tx, *account);
  wake_cloud_account(tx, id, tx.now());
  for (const auto owner : accounts_of_cloud_account(tx, id)) {
    add_chore(tx, owner, storage::ChoreKind::resume_unavailable);
  }
}

std::optional<LoginFault> login_fault(const cloud::CloudError& error) {
  switch (error.kind) {
    case cloud::CloudError::Kind::login_refused:
      return LoginFault::refused;
    case cloud::CloudError::Kind::credentials_unreadable:
      return LoginFault::unreadable;
    default:
      return std::nullopt;
  }
}

LoginVerdict refuse_login(Tx& tx, AccountId account, std::int64_t version, LoginFault fault) {
  auto standing = lock_standing(tx, account);
  if (!standing || standing->status == storage::CredentialsStatus::missing) return LoginVerdict::missing;
  if (standing->version != version) return LoginVerdict::changed;
  const bool unreadable = fault == LoginFault::unreadable;
  const auto verdict = unreadable ? LoginVerdict::unreadable : LoginVerdict::refused;
  const bool known =
      standing->status == storage::CredentialsStatus::invalid && standing->unreadable == unreadable;
  if (known && !unreadable) return verdict;
  if (auto record = find_credentials(tx, account)) {
    if (unreadable) {
      record->check_due_at = tx.now() + kOpenAgain;
    } else {
      record->checked_at = tx.now();
      record->check_due_at.reset();
    }
    update_credentials(tx, *record);
  }
  if (known) return verdict;
  standing->status = storage::CredentialsStatus::invalid;
  standing->unreadable = unreadable;
  update_standing(tx, account, *standing);
  add_chore(tx, account, storage::ChoreKind::fail_invalid_credentials);
  return verdict;
}

}  // namespace presetbridge::services
