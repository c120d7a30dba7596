// Accounts and who belongs to them (spec 7.1, 7.4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/login_failure.h"
#include "identity/membership.h"
#include "identity/principal.h"
#include "identity/sign_up_limit.h"
#include "identity/token_verifier.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/account_store.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {

class Accounts {
 public:
  // How many accounts tokens may found; the gate is that of all ways of signing up.
  struct FoundingLimit {
    identity::SignUpGate& gate;
    const Clock& clock;
  };
  // All outlive this. Without a limit as many as are asked for.
  Accounts(storage::AsyncDatabase& async_db, IdSource& ids, identity::Signup signup,
           std::int64_t signup_credits = 0, std::optional<FoundingLimit> limit = std::nullopt)
      : async_db_(async_db), ids_(ids), signup_(signup), signup_credits_(signup_credits), limit_(limit) {}

  // The person behind a verified token. One of a session is whom the session is of, UNAUTHORIZED once that
  // has ended. Of others a (iss, sub) seen for the first time gets an account of its own when sign-up is
  // open, else FORBIDDEN; RATE_LIMIT_EXCEEDED: too many sign-ups (spec 8.6). `caller_of` is called then
  // alone, and outlives the task.
  using CallerOf = std::function<net::Caller()>;
  Task<identity::LoginResult<identity::Principal>> principal_of(Executor& executor,
                                                                identity::VerifiedToken token,
                                                                CallerOf caller_of = {});

  Task<Expected<storage::AccountRow>> get(Executor& executor, AccountId account);
  // Whether the caller has confirmed their e-mail address; nothing for a key, and for people of other issuers.
  Task<Expected<std::optional<bool>>> email_verified(Executor& executor, identity::Principal by);
  // Absent members stay; an empty text removes the value that buyers see.
  struct Change {
    std::optional<std::string> name;  // not empty
    std::optional<std::string> display_name;
    std::optional<std::string> support_email;
    std::optional<std::string> support_url;
  };
  Task<Expected<storage::AccountRow>> change(Executor& executor, identity::Principal by, Change wanted);
  Task<Expected<storage::Page<storage::AuditRow>>> audit_log(Executor& executor, AccountId account,
                                                             storage::AuditFilter filter,
                                                             storage::PageRequest page);

 private:
  Task<Expected<identity::Principal>> principal_of_session(Executor& executor, identity::VerifiedToken token);

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const identity::Signup signup_;
  const std::int64_t signup_credits_;  // of a new account (spec 11.1)
  const std::optional<FoundingLimit> limit_;
};

}  // namespace presetbridge::services
