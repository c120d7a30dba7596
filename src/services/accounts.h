// Accounts and who belongs to them (spec 7.1, 7.4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/membership.h"
#include "identity/principal.h"
#include "identity/token_verifier.h"
#include "storage/account_store.h"
#include "storage/audit_store.h"
#include "storage/group_commit.h"
#include "storage/page.h"

namespace presetbridge::services {

class Accounts {
 public:
  // All outlive this.
  Accounts(storage::GroupCommit& commits, IdSource& ids, identity::Signup signup)
      : commits_(commits), ids_(ids), signup_(signup) {}

  // The person behind a verified token. A (iss, sub) seen for the first time gets an account of its own when
  // sign-up is open, else FORBIDDEN.
  Task<Expected<identity::Principal>> principal_of(Executor& executor, identity::VerifiedToken token);

  Task<Expected<storage::AccountRow>> get(Executor& executor, AccountId account);
  Task<Expected<storage::Page<storage::AuditRow>>> audit_log(Executor& executor, AccountId account,
                                                             storage::PageRequest page);

 private:
  storage::GroupCommit& commits_;
  IdSource& ids_;
  const identity::Signup signup_;
};

}  // namespace presetbridge::services
