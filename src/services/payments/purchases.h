// Credits are bought (spec 11.2, 11.3): packs, payment pages, and what became of them. Where no processor is
// configured no packs are sold; what was bought before is shown all the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "domain/credit_pack.h"
#include "identity/principal.h"
#include "services/payments/settlement.h"
#include "storage/commit/async_database.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::services {

struct PurchaseOptions {
  std::vector<domain::CreditPack> packs;
  std::string base_url;  // the service's own, without a slash at its end
  // How long a page can be paid; the processor takes 30 minutes and more.
  Millis page_open = std::chrono::minutes{45};
};

inline constexpr int kMostPendingPurchases = 20;                       // of an account
inline constexpr Millis kPendingCounted = std::chrono::hours{24 * 7};  // younger ones count
// A person's question is put to the processor if the last one is so old.
inline constexpr Millis kAskedAnew{2'000};

// Thread-safe.
class Purchases {
 public:
  // All outlive this. `settlement`: null where no processor is configured.
  Purchases(storage::AsyncDatabase& async_db, IdSource& ids, Settlement* settlement, PurchaseOptions options)
      : async_db_(async_db), ids_(ids), settlement_(settlement), options_(std::move(options)) {}

  // The packs that are sold now.
  const std::vector<domain::CreditPack>& packs() const { return options_.packs; }

  // Opens a payment page: the row's `url`. PAYMENTS_OFF; VALIDATION_FAILED: no such pack; LIMIT_REACHED:
  // kMostPendingPurchases are not paid yet; PAYMENTS_UNAVAILABLE: there is no page, and nothing can be paid.
  Task<Expected<storage::PurchaseRow>> buy(Executor& executor, identity::Principal by, std::string pack);
  // Newest first.
  Task<Expected<storage::Page<storage::PurchaseRow>>> list(Executor& executor, identity::Principal by,
                                                           std::optional<domain::PurchaseState> state,
                                                           storage::PageRequest page);
  // NOT_FOUND for another account's.
  Task<Expected<storage::PurchaseRow>> get(Executor& executor, identity::Principal by, PurchaseId id);
  // Asks the processor, unless that was done a moment ago. Errors of get() and Settlement::settle();
  // PAYMENTS_OFF.
  Task<Expected<storage::PurchaseRow>> refresh(Executor& executor, identity::Principal by, PurchaseId id);
  // Takes in a webhook: settles the purchase that it is about; nothing where it is about none of ours. Where
  // that fails, the purchase is due to reconciliation, and the Error says why.
  Task<Expected<void>> noticed(Executor& executor, payments::Notice notice);

 private:
  Task<Expected<storage::PurchaseRow>> open_page(Executor& executor, storage::PurchaseRow row);

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Settlement* const settlement_;
  const PurchaseOptions options_;
};

// The purchase that a notice is about; none: of none of ours.
PurchaseId purchase_of(storage::Tx& tx, const payments::Notice& notice);

}  // namespace presetbridge::services
