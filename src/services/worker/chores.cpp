#include "services/worker/chores.h"

#include <array>
#include <span>

#include "domain/account_pause.h"
#include "services/delivery/remap.h"
#include "services/delivery/routing.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"
#include "storage/credit_store.h"
#include "storage/delivery_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::PendingActionKind;
using domain::ResolutionCode;
using storage::Chore;
using storage::ChoreKind;
using storage::CredentialsStatus;
using storage::Tx;

// Deliveries that failed with one of `codes` and come back. They leave the index that finds them, so there is
// no cursor.
void resume_failed(Tx& tx, DeliveryChanges& changes, const Chore& chore,
                   std::span<const ResolutionCode> codes) {
  int left = kChorePiece;
  for (const auto code : codes) {
    auto rows = lock_failed_deliveries(tx, chore.account, code, chore.done_to, left);
    for (auto& row : rows) {
      resume(tx, changes, row);
      left -= 1;
    }
  }
  if (left > 0) end_chore(tx, chore);
}

// Oldest first, as many items as the credits cover (spec 3.6).
void resume_credits(Tx& tx, DeliveryChanges& changes, Chore chore) {
  std::int64_t available = lock_balance(tx, chore.account).value_or(domain::Balance{}).available();
  auto rows = lock_failed_deliveries(tx, chore.account, ResolutionCode::insufficient_credits, chore.done_to,
                                     kChorePiece);
  for (auto& row : rows) {
    if (available <= 0) break;
    for (const auto& item : find_items(tx, row.id))
      available -= item.status == domain::ItemStatus::owed ? 1 : 0;
    chore.done_to = row.id;
    resume(tx, changes, row);
  }
  if (available <= 0 || rows.size() < kChorePiece) {
    end_chore(tx, chore);
  } else {
    advance_chore(tx, chore);
  }
}

// What failed for want of a file, and owes other files since mappings were saved.
void resume_mappings(Tx& tx, DeliveryChanges& changes, Chore chore) {
  auto rows =
      lock_failed_deliveries(tx, chore.account, ResolutionCode::preset_not_found, chore.done_to, kChorePiece);
  for (auto& row : rows) {
    chore.done_to = row.id;
    if (remap(tx, changes, row)) resume(tx, changes, row);
  }
  if (rows.size() < kChorePiece) {
    end_chore(tx, chore);
  } else {
    advance_chore(tx, chore);
  }
}

// Calls `fn` for the next deliveries of the account.
template <class Fn>
void for_each_delivery(Tx& tx, Chore chore, Fn fn) {
  auto rows = lock_deliveries_after(tx, chore.account, chore.done_to, kChorePiece);
  for (auto& row : rows) {
    chore.done_to = row.id;
    fn(row);
  }
  if (rows.size() < kChorePiece) {
    end_chore(tx, chore);
  } else {
    advance_chore(tx, chore);
  }
}

bool open(const storage::DeliveryRow& row) {
  return !row.dry_run &&
         (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::waiting_for_friendship);
}

void reroute(Tx& tx, DeliveryChanges& changes, const Chore& chore) {
  const auto standing = lock_standing(tx, chore.account);
  if (!standing || standing->status != CredentialsStatus::valid) return end_chore(tx, chore);
  for_each_delivery(tx, chore, [&](storage::DeliveryRow& row) {
    if (row.cloud_account == standing->cloud_account) return;
    if (row.status == DeliveryStatus::processing) {
      row.pending = domain::combine(row.pending, {PendingActionKind::cloud_account_changed, "", "", {}});
      return update_delivery(tx, row);
    }
    if (!open(row)) return;
    if (row.status == DeliveryStatus::waiting_for_friendship) {
      changes.apply(tx, row, {.cause = Cause::cloud_account_changed}).value();
    }
    queue_or_fail(tx, changes, row);
  });
}

// Fails what a cause keeps from being served, if it still stands: it is locked, and read here.
void fail_open(Tx& tx, DeliveryChanges& changes, const Chore& chore, bool stands, ResolutionCode code,
               bool waiting_too) {
  if (!stands) return end_chore(tx, chore);
  for_each_delivery(tx, chore, [&](storage::DeliveryRow& row) {
    if (!open(row) || (row.status == DeliveryStatus::waiting_for_friendship && !waiting_too)) return;
    changes.apply(tx, row, {.cause = Cause::known_cause, .code = code}).value();
  });
}

bool platform_given_up(Tx& tx, const std::optional<storage::CredentialsStanding>& standing) {
  if (!standing || !standing->cloud_account) return false;
  const auto account = lock_cloud_account(tx, standing->cloud_account);
  if (!account) return false;
  const auto pause = domain::decode_account_pause(account->pause);
  return pause && domain::given_up(*pause, tx.now());
}

}  // namespace

void do_chore(Tx& tx, DeliveryChanges& changes, Chore chore) {
  if (!lock_chore(tx, chore)) return;
  const auto standing = [&] { return lock_standing(tx, chore.account); };
  switch (chore.kind) {
    case ChoreKind::reroute:
      return reroute(tx, changes, chore);
    case ChoreKind::fail_invalid_credentials: {
      const auto s = standing();
      return fail_open(tx, changes, chore, s && s->status == CredentialsStatus::invalid,
                       ResolutionCode::credentials_invalid, true);
    }
    case ChoreKind::fail_missing_credentials: {
      const auto s = standing();
      return fail_open(tx, changes, chore, s && s->status == CredentialsStatus::missing,
                       ResolutionCode::credentials_missing, true);
    }
    case ChoreKind::fail_unavailable:
      return fail_open(tx, changes, chore, platform_given_up(tx, standing()),
                       ResolutionCode::cloud_unavailable, false);
    case ChoreKind::resume_credentials: {
      // Without a login they would fail again, and be found again, for ever.
      const auto s = standing();
      if (!s || s->status == CredentialsStatus::missing || s->status == CredentialsStatus::invalid) {
        return end_chore(tx, chore);
      }
      return resume_failed(
          tx, changes, chore,
          std::array{ResolutionCode::credentials_missing, ResolutionCode::credentials_invalid});
    }
    case ChoreKind::resume_credits:
      return resume_credits(tx, changes, chore);
    case ChoreKind::resume_unavailable:
      return resume_failed(tx, changes, chore, std::array{ResolutionCode::cloud_unavailable});
    case ChoreKind::resume_mappings:
      return resume_mappings(tx, changes, chore);
  }
}

int run_dry(Tx& tx, DeliveryChanges& changes) {
  auto rows = lock_dry_runs(tx, kChorePiece);
  for (auto& row : rows) {
    ++row.attempt_count;
    changes.apply(tx, row, {.cause = Cause::leased}).value();
    for (auto& item : find_items(tx, row.id)) {
      if (item.status != domain::ItemStatus::owed) continue;
      item.status = domain::ItemStatus::shared;
      item.shared_at = tx.now();
      update_item(tx, item);
    }
    changes
        .apply(
            tx, row,
            {.cause = Cause::nothing_left_owed,
             .message =
                 "Dry run: the order would have been delivered. Nothing was shared and no credit was spent."})
        .value();
  }
  return static_cast<int>(rows.size());
}

}  // namespace presetbridge::services
