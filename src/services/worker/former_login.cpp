#include "services/worker/former_login.h"

#include <algorithm>

#include "services/delivery/routing.h"
#include "services/worker/job_end.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

constexpr Millis kSessionLife{3'600'000};  // as in cloud/session_cache.h
constexpr Millis kDeletedLoginAwaited{3'600'000};

}  // namespace

bool out_of_reach(DeliverySet& set, const Job& job, const Call& call) {
  if (call.as<FindShare>() == nullptr && call.as<RevokeShare>() == nullptr) return false;
  // Where the stored login is still this cloud account's, the platform has named another user for it: that
  // may pass.
  if (!call.login.cloud_account || call.login.cloud_account == job.cloud_account) return false;
  const auto record = find_credentials(set.tx(), call.account);
  const auto* const item = set.item(call.delivery, call.item()->item);
  if (!record || item == nullptr) return false;
  return set.now() >= std::max(record->saved_at, item->settle_after.value_or(Timestamp{})) + kSessionLife;
}

bool waited_for_login(DeliverySet& set, const Job& job, storage::ItemRow& item) {
  const auto lost = job.without_login.find(item.account);
  // The platform's word that the login is of another user may pass.
  if (lost == job.without_login.end() || lost->second.kind != JobOutcome::Kind::failed) return false;
  if (!item.login_lost_at) {
    item.login_lost_at = set.now();
    set.changed(item);
  }
  // A program that does not know of that time shares again without resetting it.
  const auto since = item.status == domain::ItemStatus::sharing
                         ? std::max(*item.login_lost_at, *item.settle_after)
                         : *item.login_lost_at;
  const auto record = find_credentials(set.tx(), item.account);
  if (!record) return set.now() >= since + kDeletedLoginAwaited;
  // The platform refused the login when it was checked last.
  return set.now() >=
         std::max({since, record->saved_at, record->checked_at.value_or(since)}) + domain::kTroubleLimit;
}

void end_wait_for_login(DeliverySet& set, const Call& call) {
  const auto* const request = call.item();
  auto* const item = request ? set.item(call.delivery, request->item) : nullptr;
  if (item == nullptr || !item->login_lost_at) return;
  item->login_lost_at.reset();
  set.changed(*item);
}

void conclude_looked_up(DeliverySet& set, CustomerId customer, const Call& call) {
  conclude_settled(set, call.delivery, call.item()->item);
  auto* const row = set.delivery(call.delivery);
  if (row == nullptr || row->status != domain::DeliveryStatus::queued || row->customer == customer) return;
  queue_or_fail(set, *row);
}

}  // namespace presetbridge::services
