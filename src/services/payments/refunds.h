// How the operator gives a purchase's money back (spec 11.3). The audit log holds each try: that it was asked
// for, before the processor is called, and what became of it. A try's key at the processor is of its entry,
// so it is used again only while nobody knows what became of that try.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "services/payments/settlement.h"
#include "storage/commit/async_database.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {

// Thread-safe.
class Refunds {
 public:
  struct Asked {
    PurchaseId purchase;
    // The amount that shall have gone back in all, so that a repeated command gives back once; nothing:
    // everything.
    std::optional<std::int64_t> total;
    std::string by;  // the operator's name
  };
  struct GivenBack {
    storage::PurchaseRow purchase;  // as it stands then
    // Succeeded or pending; nothing: the total had gone back already.
    std::optional<payments::Refund> refund;
    // Where it had: the audit log's entry of the last requested refund; nothing: none was requested here.
    std::optional<storage::AuditRow> last;
  };

  // All outlive this.
  Refunds(storage::AsyncDatabase& async_db, IdSource& ids, Settlement& settlement)
      : async_db_(async_db), ids_(ids), settlement_(settlement) {}

  // NOT_FOUND; VALIDATION_FAILED: so much was not paid, or more than that went back;
  // CONFLICT: the processor refused, or the refund failed, and nothing went back; PAYMENTS_UNAVAILABLE: that
  // is not known. Asked for the same again it then goes back once, and for another total it is a CONFLICT
  // until that is known.
  Task<Expected<GivenBack>> give_back(Executor& executor, Asked asked);

 private:
  // One of which nobody knows what became.
  struct Earlier {
    std::string detail;
    bool recent = false;  // it may be under way
  };
  struct Try {
    storage::PurchaseRow purchase;
    std::string detail;  // what is asked for now: amount and currency
    std::int64_t amount = 0;
    std::optional<Earlier> earlier;
    std::optional<storage::AuditRow> last;  // the last entry on its refunds, where nothing is left to go back
    std::int64_t entry = 0;                 // in the audit log; of the earlier one, if there is one

    std::string key() const;
  };
  // The audit log's state of the purchase's refunds.
  struct Known {
    Timestamp at;
    std::optional<storage::AuditRow> last;
  };
  Task<Expected<Known>> known(Executor& executor, PurchaseId id);
  // `row`: as the processor has it, asked after `known`. Nothing: another refund ended since then, which
  // `row` may not hold.
  Task<Expected<std::optional<Try>>> begin(Executor& executor, const Asked& asked, const Known& known,
                                           const storage::PurchaseRow& row);
  Task<Expected<void>> end(Executor& executor, Try it, std::string by, std::string_view action,
                           std::string_view how);
  Task<Expected<void>> end(Executor& executor, Try it, std::string by, payments::Refund::Status status);
  Task<Expected<GivenBack>> conclude(Executor& executor, Try it, std::string by, payments::Refund refund);

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Settlement& settlement_;
};

}  // namespace presetbridge::services
