// For tests: an account that buys credits of a processor in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "identity/testing.h"
#include "services/accounts/accounts.h"
#include "services/payments/processor_testing.h"
#include "services/payments/purchases.h"
#include "services/payments/reconciliation.h"
#include "storage/stores/credit_store.h"

namespace presetbridge::services::testing {

class PaymentsWorld : public identity::testing::World {
 public:
  explicit PaymentsWorld(storage::testing::WrapDatabase wrap = {})
      : World(std::move(wrap)), me(new_account("me")) {}

  identity::Principal new_account(const std::string& subject) {
    Accounts accounts(async_db, ids, identity::Signup::open);
    return await(accounts.principal_of(scheduler, {"https://id.example", subject, "", {}})).value();
  }
  storage::PurchaseRow buy(const identity::Principal& by, const std::string& pack = "small") {
    return await(purchases.buy(scheduler, by, pack)).value();
  }
  storage::PurchaseRow buy(const std::string& pack = "small") { return buy(me, pack); }
  Expected<storage::PurchaseRow> settle(PurchaseId id) { return await(settlement.settle(scheduler, id)); }
  storage::PurchaseRow row(PurchaseId id) {
    std::optional<storage::PurchaseRow> found;
    db->read([&](storage::Tx& tx) { found = find_purchase(tx, id); });
    return found.value();
  }
  std::string state(PurchaseId id) { return std::string(domain::to_string(row(id).standing.state)); }
  domain::Balance balance(const identity::Principal& of) {
    std::optional<domain::Balance> found;
    db->read([&](storage::Tx& tx) { found = find_balance(tx, of.account); });
    return found.value();
  }
  domain::Balance balance() { return balance(me); }
  std::vector<storage::LedgerEntry> entries(const identity::Principal& of) {
    std::vector<storage::LedgerEntry> found;
    db->read([&](storage::Tx& tx) { found = list_ledger(tx, of.account, {}, 10'000); });
    return found;
  }
  // Oldest first.
  std::vector<std::string> ledger() {
    std::vector<std::string> lines;
    for (const auto& entry : entries(me))
      lines.insert(lines.begin(), std::string(to_string(entry.kind)) + " " + std::to_string(entry.credits) +
                                      (entry.cause.empty() ? "" : " by " + entry.cause));
    return lines;
  }
  // So many are shared.
  void spend(const identity::Principal& by, std::int64_t credits) {
    db->write([&](storage::Tx& tx) {
      auto b = lock_balance(tx, by.account).value();
      std::vector<storage::LedgerRow> rows;
      for (std::int64_t i = 0; i < credits; ++i) {
        b = domain::spend(domain::hold(b, 1).value(), 1).value();
        rows.push_back({by.account,
                        {.id = ids.make<LedgerId>(),
                         .at = tx.now(),
                         .kind = domain::LedgerEntryKind::spend,
                         .credits = 1,
                         .item = ids.make<ItemId>(),
                         .balance_after = b.within_reach()}});
      }
      update_balance(tx, by.account, b);
      append_ledger(tx, rows);
    });
  }
  void start_reconciliation(Reconciliation::Pace pace = {}) {
    reconciliation = std::make_unique<Reconciliation>(
        Reconciliation::Ports{scheduler, db.clock, async_db, settlement, log, metrics, "node"}, pace);
    reconciliation->start();
  }
  void stop_reconciliation() {
    bool stopped = false;
    reconciliation->stop([&] { stopped = true; });
    scheduler.advance(Millis{60'000});
    if (!stopped) throw std::runtime_error("reconciliation does not stop");
    reconciliation.reset();
  }

  static PurchaseOptions options() {
    return {
        .packs = {{"small", "100 credits", 100, 1'900, "eur"}, {"large", "500 credits", 500, 7'900, "eur"}},
        .base_url = "https://bridge.example"};
  }

  presetbridge::testing::CountingMetrics metrics;
  FakeProcessor processor{db.clock};
  DeliveryChanges changes{ids, random};
  int resumed = 0;
  Settlement settlement{async_db, changes, processor, log, [this] { ++resumed; }};
  Purchases purchases{async_db, ids, &settlement, options()};
  std::unique_ptr<Reconciliation> reconciliation;
  identity::Principal me;
};

}  // namespace presetbridge::services::testing
