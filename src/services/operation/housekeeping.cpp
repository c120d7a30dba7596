#include "services/operation/housekeeping.h"

#include <algorithm>
#include <utility>

#include "identity/built_in_issuer.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/bulk_store.h"
#include "storage/stores/change_store.h"
#include "storage/stores/cloud_login_store.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/mail_store.h"
#include "storage/stores/order_list.h"
#include "storage/stores/people_store.h"
#include "storage/stores/session_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/timeline_summary.h"

namespace presetbridge::services {
namespace {

using std::chrono::days;
using std::chrono::floor;
using storage::AgedBatch;
using storage::Tx;

// A dispatch is made a moment after its event, and goes before it.
constexpr Millis kDispatchesGoEarlier = std::chrono::hours{1};

// Longer than nodes keep changes (live.kept_minutes): of nodes that are no more.
constexpr Millis kChangeRetention = std::chrono::hours{25};

// Longer than any limit of logins counts them (services/vault/login_guard.cpp).
constexpr Millis kLoginAttemptRetention = std::chrono::hours{48};

constexpr int kRemainsAtOnce = 50;
constexpr int kCountedAtOnce = 200;
// States of orders that are read in one transaction: each is a body of a request at most.
constexpr int kStatesAtOnce = 50;

// The counts of a store's requests are shown for a day (spec 9.1).
constexpr Millis kStoreHourRetention = std::chrono::hours{48};

// Deletes the rests of saves of mappings that were given up or whose process died.
AgedBatch delete_old_mappings(Tx& tx, int limit) {
  AgedBatch batch;
  const auto remains = find_mapping_remains(tx, kRemainsAtOnce);
  for (const auto& of : remains) {
    batch.deleted += delete_mapping_remains(tx, of, limit - static_cast<int>(batch.deleted));
    if (batch.deleted == limit) break;
  }
  if (batch.deleted == limit || remains.size() == kRemainsAtOnce) batch.next = 0;
  return batch;
}

// A deletion that finds its oldest rows by itself: there is more as long as it fills a batch.
AgedBatch of_oldest(std::int64_t deleted, int limit) {
  AgedBatch batch{.deleted = deleted};
  if (deleted == limit) batch.next = 0;
  return batch;
}

AgedBatch of_timelines(const storage::CollapsedBatch& collapsed) {
  AgedBatch batch{.deleted = collapsed.collapsed};
  if (collapsed.more) batch.next = 0;
  return batch;
}

}  // namespace

void Housekeeping::start() {
  tasks_.start_loop(loop(), "housekeeping loop");
}

void Housekeeping::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> Housekeeping::loop() {
  while (!tasks_.stopping()) {
    co_await round();
    if (!tasks_.stopping()) co_await tasks_.wait(pace_.period);
  }
}

Task<void> Housekeeping::round() {
  const int limit = pace_.batch;
  co_await walk("order payloads", [this, limit](Tx& tx, std::int64_t after) {
    return delete_old_payloads(tx, after, tx.now() - retention_.payloads, limit);
  });
  co_await walk("outbound dispatches", [this, limit](Tx& tx, std::int64_t after) {
    return delete_old_dispatches(tx, after, tx.now() - retention_.outbound + kDispatchesGoEarlier, limit);
  });
  co_await walk("dispatches of deleted subscriptions", [limit](Tx& tx, std::int64_t after) {
    return delete_dispatches_of_nobody(tx, after, limit);
  });
  co_await walk("outbound events", [this, limit](Tx& tx, std::int64_t after) {
    return delete_old_events(tx, after, tx.now() - retention_.outbound, limit);
  });
  co_await walk("outbound attempts", [this, limit](Tx& tx, std::int64_t after) {
    return delete_old_attempts(tx, after, tx.now() - retention_.outbound, limit);
  });
  co_await walk("jobs on many", [this, limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_old_bulk_jobs(tx, tx.now() - retention_.payloads, limit), limit);
  });
  co_await walk("mappings", [limit](Tx& tx, std::int64_t) { return delete_old_mappings(tx, limit); });
  co_await walk("keys of deliveries", [limit](Tx& tx, std::int64_t) {
    AgedBatch batch;
    if (fill_delivery_keys(tx, limit) == limit) batch.next = 0;
    return batch;
  });
  co_await walk("quarters of activity", [this, limit](Tx& tx, std::int64_t) {
    return of_oldest(fold_activity(tx, floor<days>(tx.now() - retention_.activity), limit), limit);
  });
  co_await walk("deliveries that were not counted", [limit](Tx& tx, std::int64_t after) {
    const auto batch = count_deliveries_of_before(tx, after, std::min(limit, kCountedAtOnce));
    return AgedBatch{.deleted = 0, .next = batch.next};
  });
  co_await walk("attempts on deliveries", [this, limit](Tx& tx, std::int64_t) {
    return of_timelines(collapse_timelines(tx, tx.now() - retention_.timelines, retention_.timelines, limit));
  });
  co_await walk("later attempts on deliveries", [this, limit](Tx& tx, std::int64_t) {
    return of_timelines(collapse_revisited(tx, tx.now() - retention_.timelines, retention_.timelines, limit));
  });
  co_await walk("audit log", [this, limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_audit(tx, tx.now() - retention_.audit_log, limit), limit);
  });
  co_await walk("refresh tokens", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_refresh_tokens(tx, tx.now(), limit), limit);
  });
  co_await walk("tokens of sessions", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_session_tokens(tx, tx.now(), limit), limit);
  });
  co_await walk("sessions", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_sessions(tx, tx.now(), limit), limit);
  });
  co_await walk("personal data of deleted accounts in the audit log", [limit](Tx& tx, std::int64_t) {
    return of_oldest(blank_audit_of_deleted(tx, limit), limit);
  });
  co_await walk("invitations", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_invitations(tx, tx.now(), limit), limit);
  });
  co_await walk("links of mails", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_mail_links(tx, tx.now(), limit), limit);
  });
  co_await walk("sessions of the cloud platform", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_expired_cloud_sessions(tx, tx.now(), limit), limit);
  });
  co_await walk("logins at the cloud platform", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_old_login_attempts(tx, tx.now() - kLoginAttemptRetention, limit), limit);
  });
  co_await walk("hours of stores", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_store_hours(tx, tx.now() - kStoreHourRetention, limit), limit);
  });
  co_await walk("watches of accounts", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_ended_watches(tx, tx.now(), limit), limit);
  });
  co_await walk("changes of accounts", [limit](Tx& tx, std::int64_t) {
    return of_oldest(delete_old_changes(tx, tx.now() - kChangeRetention, limit), limit);
  });
  // Strangers make rows with addresses that nobody has.
  auto crowd = co_await async_db_.read(
      scheduler_, [this](Tx& tx) { return age_of_sign_in_attempts(tx, pace_.sign_in_attempts - 1); });
  const auto too_many_since = crowd && *crowd ? **crowd : Timestamp{};
  co_await walk("attempts to sign in", [limit, too_many_since](Tx& tx, std::int64_t) {
    const auto before = std::max(tx.now() - identity::kFailuresForgottenAfter, too_many_since);
    return of_oldest(delete_old_sign_in_attempts(tx, before, limit), limit);
  });
  co_await list_orders();
}

// Fills the columns that lists show of orders that an older program wrote (storage/stores/order_list.h).
Task<void> Housekeeping::list_orders() {
  std::int64_t listed = 0;
  std::optional<std::int64_t> after = 0;
  while (after && !tasks_.stopping()) {
    auto batch = co_await async_db_.write(scheduler_, [&](Tx& tx) {
      return list_orders_of_before(tx, *after, std::min(pace_.batch, kStatesAtOnce));
    });
    if (!batch) {
      if (!storage::is_logged(batch.error()))
        log_.warn("orders of before could not be listed", {{"error", batch.error().message}});
      co_return;
    }
    listed += batch->orders;
    after = batch->next;
    if (after && !tasks_.stopping()) co_await tasks_.wait(pace_.pause);
  }
  if (listed > 0) log_.info("orders of before were listed", {{"rows", listed}});
}

Task<void> Housekeeping::walk(std::string_view what, DeleteBatch delete_batch) {
  std::int64_t deleted = 0;
  std::optional<std::int64_t> after = 0;
  while (after && !tasks_.stopping()) {
    auto batch = co_await async_db_.write(scheduler_, [&](Tx& tx) { return delete_batch(tx, *after); });
    if (!batch) {
      if (!storage::is_logged(batch.error()))
        log_.warn("old rows could not be deleted", {{"what", what}, {"error", batch.error().message}});
      co_return;
    }
    deleted += batch->deleted;
    after = batch->next;
    if (after && !tasks_.stopping()) co_await tasks_.wait(pace_.pause);
  }
  if (deleted > 0) log_.info("old rows were deleted", {{"what", what}, {"rows", deleted}});
}

}  // namespace presetbridge::services
