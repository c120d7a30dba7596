// An account's credits as they are shown, and granted by the operator (spec 11.1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/task.h"
#include "domain/credits.h"
#include "identity/principal.h"
#include "services/credits/credit_pace.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/credit_store.h"

namespace presetbridge::services {

// Thread-safe.
class Credits {
 public:
  // `changed` is called, on any thread, when there may be new work for the delivery worker.
  Credits(storage::AsyncDatabase& async_db, IdSource& ids, std::function<void()> changed)
      : async_db_(async_db), ids_(ids), changed_(std::move(changed)) {}

  struct View {
    domain::Balance balance;
    std::optional<std::int64_t> low_at;  // the threshold of credits.low; nothing: the service's default holds
    CreditPace pace;
  };
  Task<Expected<View>> balance(Executor& executor, identity::Principal by);
  // `low_at` is 0 or more; nothing restores the service's default.
  Task<Expected<View>> set_low_at(Executor& executor, identity::Principal by,
                                  std::optional<std::int64_t> low_at);
  struct LedgerFilter {
    std::optional<domain::LedgerEntryKind> kind;  // entries of this kind; nothing: of all kinds
    std::optional<Timestamp> since;
    std::optional<Timestamp> before;
  };
  // Newest first. A filter is applied to the next max_scanned entries: a page may hold fewer than asked
  // for, or none, and still have a next one.
  static constexpr int max_scanned = 5'000;
  Task<Expected<storage::Page<storage::LedgerEntry>>> ledger(Executor& executor, identity::Principal by,
                                                             LedgerFilter filter, storage::PageRequest page);
  // The operator gives credits from the command line (spec 11.1). They pay debt first; the rest resumes
  // deliveries. NOT_FOUND; VALIDATION_FAILED for less than 1, more than a balance can hold, or a longer note.
  // The note is stored in the ledger and in the audit log; the audit log also stores the operator's `name`.
  static constexpr std::size_t max_note_bytes = 500;
  Task<Expected<domain::Balance>> grant(Executor& executor, AccountId account, std::int64_t credits,
                                        std::string note, std::string name = {});

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const std::function<void()> changed_;
};

}  // namespace presetbridge::services
