// The privacy requests of a merchant's stores, which the merchant sees and closes (spec 2.11, 9.6).
#pragma once

#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"
#include "storage/stores/privacy_store.h"

namespace presetbridge::services {

// Thread-safe. A key that is limited to integrations sees and closes the requests of those alone.
class PrivacyInbox {
 public:
  PrivacyInbox(storage::AsyncDatabase& async_db, IdSource& ids) : async_db_(async_db), ids_(ids) {}

  // Newest first; `open`: those that are not closed.
  Task<Expected<storage::Page<storage::PrivacyRequestRow>>> list(Executor& executor, identity::Principal by,
                                                                 bool open, storage::PageRequest page);
  // The orders that a data request names. NOT_FOUND.
  Task<Expected<storage::Page<storage::OrderNamed>>> orders(Executor& executor, identity::Principal by,
                                                            PrivacyRequestId id, storage::PageRequest page);
  // The merchant has done what is theirs. NOT_FOUND; CONFLICT: it is closed already.
  Task<Expected<storage::PrivacyRequestRow>> close(Executor& executor, identity::Principal by,
                                                   PrivacyRequestId id);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
};

}  // namespace presetbridge::services
