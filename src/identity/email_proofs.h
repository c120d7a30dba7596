// People act by the links that are mailed to them (spec 7.2): they set a new password without the old one, and
// confirm their address. For people of the built-in issuer only: others' addresses are their issuers' business.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/built_in_issuer.h"
#include "identity/login_failure.h"
#include "identity/password_workers.h"
#include "identity/principal.h"
#include "identity/sessions.h"
#include "net/client_address.h"
#include "net/key_budget.h"
#include "storage/commit/async_database.h"
#include "storage/stores/mail_store.h"

namespace presetbridge::identity {

// Thread-safe; tasks resume on `executor`.
class EmailProofs {
 public:
  // All outlive this. `mail_came` is called on a task's executor when a mail may be due.
  struct Deps {
    storage::AsyncDatabase& async_db;
    BuiltInIssuer& issuer;
    PasswordWorkers& passwords;
    IdSource& ids;
    const Clock& clock;
    std::function<void()> mail_came;
  };
  explicit EmailProofs(Deps deps);

  // Mails a link if somebody has the address. If nobody has it, and beyond three requests an hour for the address,
  // nothing is mailed, with an equal answer at equal cost. RATE_LIMIT_EXCEEDED: the caller's network has used
  // its twenty requests, which come back evenly over an hour.
  Task<LoginResult<void>> ask_reset(Executor& executor, net::Caller caller, std::string email);
  // Sets the password, ends all sessions of the person and begins one of `device`; confirms the address too.
  // LINK_INVALID; VALIDATION_FAILED: `next` is no good password; OVERLOADED and RATE_LIMIT_EXCEEDED: too many
  // passwords are being hashed, or the person began too many sessions. Each but LINK_INVALID leaves the link good.
  Task<LoginResult<Tokens>> reset(Executor& executor, net::Caller caller, MailLinkId link, std::string next,
                                  Device device = {});

  // Mails the caller a link to confirm their address. FORBIDDEN: `by` is no person of the built-in issuer, or
  // has been deleted. CONFLICT: the address is confirmed. RATE_LIMIT_EXCEEDED: beyond three an hour for it.
  Task<LoginResult<void>> ask_verification(Executor& executor, Principal by);
  // Uses a link that was mailed to confirm an address, and confirms that address. LINK_INVALID.
  Task<Expected<void>> verify(Executor& executor, MailLinkId link, Origin origin = {});

 private:
  const Deps deps_;
  net::KeyBudget resets_of_networks_;
};

}  // namespace presetbridge::identity
