// Deletion of an account's personal data (spec 7.2, 9.6). At once nobody can sign in any more, no order is
// taken and nothing more is delivered; customers are erased from the orders by a job (customers.h). The
// records that books need stay: ids, ledger, purchases, and the audit log by ids.
#pragma once

#include <functional>
#include <string>

#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "services/vault/vault.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

class AccountDeletion {
 public:
  // All outlive this. `asked` is called, on any thread, when there is a job for BulkWorker.
  AccountDeletion(storage::AsyncDatabase& async_db, IdSource& ids, Vault& vault, std::function<void()> asked)
      : async_db_(async_db), ids_(ids), vault_(vault), asked_(std::move(asked)) {}

  // VALIDATION_FAILED: `name` is not what the account is called. FORBIDDEN: `by` is no longer an owner.
  Task<Expected<void>> run(Executor& executor, identity::Principal by, std::string name);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Vault& vault_;
  const std::function<void()> asked_;
};

}  // namespace presetbridge::services
