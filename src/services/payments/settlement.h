// How a purchase is settled (spec 11.3): the processor is asked for the payment's present state, and the
// account's ledger is moved by the difference to what it holds of that purchase, in one transaction under the
// purchase's row. So it does not matter who asks (a webhook, the landing page, reconciliation), how often, in
// which order or at how many places at once.
//
// Questions are numbered before they are asked, and an answer counts only if no answer to a later question
// did: an older state of the payment never replaces a newer one. News that makes a purchase due is numbered
// too, and only an answer to what is the latest then ends that it is due.
#pragma once

#include <functional>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "payments/processor.h"
#include "services/delivery/change.h"
#include "storage/commit/async_database.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::services {

// A page that was never opened has no session; so long after its row was made nobody opens it any more.
inline constexpr Millis kOpensWithin = std::chrono::minutes{5};

// Thread-safe.
class Settlement {
 public:
  // All outlive this. `changed` is called, on any thread, when there may be new work for the delivery worker.
  Settlement(storage::AsyncDatabase& async_db, DeliveryChanges& changes, payments::Processor& processor,
             Log& log, std::function<void()> changed)
      : async_db_(async_db),
        changes_(changes),
        processor_(processor),
        log_(log),
        changed_(std::move(changed)) {}

  // The purchase as it stands then. `session`: of a purchase whose row knows none. NOT_FOUND;
  // PAYMENTS_UNAVAILABLE: the processor gave no answer that makes sense, and nothing has changed.
  Task<Expected<storage::PurchaseRow>> settle(Executor& executor, PurchaseId id, std::string session = {});

  payments::Processor& processor() { return processor_; }

 private:
  Task<void> postpone(Executor& executor, PurchaseId id, std::int64_t question);

  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  payments::Processor& processor_;
  Log& log_;
  const std::function<void()> changed_;
};

// Of what the processor did not do.
Error payments_unavailable(const payments::ProcessorError& error);

}  // namespace presetbridge::services
