// Keeps the service from being a proxy for guessing passwords (spec 4.3): the limits that POST
// /api/auth/login, the saving and the validating of credentials share. 10 failures an hour an account, 5 in
// 15 minutes an e-mail address over all accounts, 20 different addresses a day an account. At one time an
// account has its share of the credential agent's places at a node (spec 8.6).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/shared_slots.h"
#include "base/task.h"
#include "base/time.h"
#include "identity/login_failure.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

using identity::LoginFailure;
using identity::LoginResult;

struct LoginLimits {
  std::size_t account_failures = 10;
  Millis account_window = std::chrono::hours{1};
  std::size_t email_failures = 5;
  Millis email_window = std::chrono::minutes{15};
  std::size_t account_emails = 20;
  Millis account_emails_window = std::chrono::hours{24};
  int account_at_once = 7;
};

// Thread-safe. The attempt is written as a failure, and committed, before the login starts: concurrent
// attempts count each other. A refused one leaves no trace, so it does not extend a window.
class LoginGuard {
 public:
  enum class Outcome {
    succeeded,
    refused,     // by the platform: stays a failure
    unanswered,  // nothing was learned about the password
  };
  // All outlive this. `email_key` gives what e-mails are hashed with now (HMAC-SHA256), so that the table
  // alone reveals no address; after a change of the key, attempts at an address count anew. Any thread.
  LoginGuard(storage::AsyncDatabase& async_db, IdSource& ids, std::function<std::string()> email_key,
             LoginLimits limits = {})
      : async_db_(async_db), ids_(ids), email_key_(std::move(email_key)), limits_(limits) {}

  struct Attempt {
    std::int64_t id = 0;
    std::size_t left = 0;  // attempts that the account may still make at this address, if this one fails
    SharedSlots::Slot place;
  };
  // RATE_LIMIT_EXCEEDED, with the time after which the attempt would be let through. OVERLOADED, as where the
  // agent has no place: the account has too many attempts at one time.
  Task<LoginResult<Attempt>> begin(Executor& executor, AccountId account, std::string email);
  // An attempt that is never ended stays a failure.
  Task<Expected<void>> end(Executor& executor, const Attempt& attempt, Outcome outcome);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const std::function<std::string()> email_key_;
  const LoginLimits limits_;
  SharedSlots under_way_{std::numeric_limits<int>::max()};  // attempts of accounts
};

// INVALID_CREDENTIALS, for an attempt that the platform refused.
inline std::unexpected<LoginFailure> refused_by_platform(const LoginGuard::Attempt& attempt,
                                                         std::string message) {
  LoginFailure failure({"INVALID_CREDENTIALS", std::move(message), {}});
  failure.attempts_left = attempt.left;
  return std::unexpected(std::move(failure));
}

}  // namespace presetbridge::services
