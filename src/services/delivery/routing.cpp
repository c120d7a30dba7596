#include "services/delivery/routing.h"

#include <array>

#include "domain/order.h"
#include "storage/cloud_account_store.h"
#include "storage/credential_store.h"
#include "storage/credit_store.h"
#include "storage/customer_store.h"
#include "storage/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::Tx;

}  // namespace

ResolutionCode known_cause(AccountFacts& facts, const storage::DeliveryRow& row) {
  if (row.username.empty()) return ResolutionCode::username_missing;
  return row.dry_run ? ResolutionCode::none : facts.cause(row.account);
}

void route(Tx& tx, IdSource& ids, std::span<storage::DeliveryRow* const> rows, AccountFacts& facts) {
  std::vector<storage::Buyer> buyers;
  std::vector<storage::DeliveryRow*> theirs;
  for (auto* const row : rows) {
    row->customer = {};
    row->cloud_account = {};
    if (row->dry_run) continue;
    const auto& standing = facts.standing(row->account);
    if (standing.status != storage::CredentialsStatus::valid) continue;
    row->cloud_account = standing.cloud_account;
    buyers.push_back({row->cloud_account, row->username, ids.make<CustomerId>()});
    theirs.push_back(row);
    wake_cloud_account(tx, row->cloud_account, tx.now());
  }
  const auto customers = enqueue_buyers(tx, buyers, tx.now());
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i]->customer = customers[i];
}

void queue_or_fail(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row) {
  AccountFacts facts(tx);
  const auto cause = known_cause(facts, row);
  if (cause != ResolutionCode::none) {
    changes
        .apply(tx, row,
               {.cause = domain::Cause::known_cause,
                .code = cause,
                .message = facts.words_of(cause, row.account)})
        .value();
    return;
  }
  route(tx, changes.ids(), std::array{&row}, facts);
  update_delivery(tx, row);
}

void resume(Tx& tx, DeliveryChanges& changes, storage::DeliveryRow& row, domain::Actor actor) {
  changes.apply(tx, row, {.cause = domain::Cause::cause_fixed, .actor = actor}).value();
  if (const auto order = find_order(tx, OrderId{row.id.value})) {
    const auto state = domain::decode_order_state(order->state);
    if (!state) throw Error(state.error());
    if (state->unapproved_payment()) {
      changes.apply(tx, row, {.cause = domain::Cause::payment_withdrawn, .reason = "payment_withdrawn"})
          .value();
      return;
    }
    if (state->unapproved_risk()) {
      changes.apply(tx, row, {.cause = domain::Cause::high_risk, .reason = "high_risk"}).value();
      return;
    }
  }
  queue_or_fail(tx, changes, row);
}

}  // namespace presetbridge::services
