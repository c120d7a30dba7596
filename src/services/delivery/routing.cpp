#include "services/delivery/routing.h"

#include "domain/job_class.h"
#include "domain/order.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"
#include "storage/credit_store.h"
#include "storage/customer_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::CredentialsStatus;
using storage::Friendship;
using storage::Tx;

ResolutionCode cause_of(const std::optional<storage::CredentialsStanding>& standing,
                        const std::optional<domain::Balance>& balance) {
  if (!standing || standing->status == CredentialsStatus::missing) return ResolutionCode::credentials_missing;
  if (standing->status == CredentialsStatus::invalid) return ResolutionCode::credentials_invalid;
  // Credits on hold may come back: that is found out when the share is due.
  if (!balance || balance->available() + balance->held <= 0) return ResolutionCode::insufficient_credits;
  return ResolutionCode::none;
}

}  // namespace

ResolutionCode known_cause(Tx& tx, const storage::DeliveryRow& row) {
  if (row.username.empty()) return ResolutionCode::username_missing;
  if (row.dry_run) return ResolutionCode::none;
  if (cause_of(find_standing(tx, row.account), find_balance(tx, row.account)) == ResolutionCode::none) {
    return ResolutionCode::none;
  }
  return cause_of(lock_standing(tx, row.account), lock_balance(tx, row.account));
}

void route(Tx& tx, IdSource& ids, storage::DeliveryRow& row, Timestamp due_at) {
  row.customer = {};
  row.cloud_account = {};
  if (row.dry_run) return;
  const auto standing = find_standing(tx, row.account);
  if (!standing || standing->status != CredentialsStatus::valid) return;

  row.cloud_account = standing->cloud_account;
  const auto customer = find_or_insert_customer(tx, row.cloud_account, row.username, ids.make<CustomerId>());
  row.customer = customer.id;
  const bool can_share = customer.friendship == Friendship::friends;
  enqueue_customer(tx, customer.id, can_share ? domain::JobClass::share : domain::JobClass::first_request, due_at);
  wake_cloud_account(tx, row.cloud_account, due_at);
}

void queue_or_fail(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row) {
  const auto cause = known_cause(tx, row);
  if (cause != ResolutionCode::none) {
    changes.apply(tx, row, {.cause = domain::Cause::known_cause, .code = cause}).value();
    return;
  }
  route(tx, changes.ids(), row, tx.now());
  update_delivery(tx, row);
}

void resume(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row, domain::Actor actor) {
  changes.apply(tx, row, {.cause = domain::Cause::cause_fixed, .actor = actor}).value();
  if (const auto order = find_order(tx, OrderId{row.id.value})) {
    const auto state = domain::decode_order_state(order->state);
    if (!state) throw Error(state.error());
    if (state->payment() == domain::Payment::awaiting_payment) {
      changes.apply(tx, row, {.cause = domain::Cause::payment_withdrawn, .reason = "payment_withdrawn"}).value();
      return;
    }
    if (state->high_risk) {
      changes.apply(tx, row, {.cause = domain::Cause::high_risk, .reason = "high_risk"}).value();
      return;
    }
  }
  queue_or_fail(tx, changes, row);
}

}  // namespace presetbridge::services
