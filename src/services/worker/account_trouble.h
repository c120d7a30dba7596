// Trouble of a cloud account or of the platform (spec 3.5), as its row has it: only here it begins and ends.
// domain/trouble.h decides what it means. Unless said otherwise a function locks the account's row and reads
// which of its failing deliveries are still at work, so the caller has written its changes of deliveries
// (DeliverySet::save()).
#pragma once

#include <optional>

#include "base/ids.h"
#include "cloud/cloud.h"
#include "domain/trouble.h"
#include "storage/database.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

struct FailureNoted {
  std::optional<Timestamp> retry_at;  // of the customer's deliveries
  bool paused = false;                // it is the account's trouble; else, without retry_at, they fail
};

// Notes a transient failure of a call of this customer's job for `delivery`; none: for no delivery.
// `answered`: the platform refused, so that it is no trouble of the account; nor is a failed revocation,
// which holds up no order. The customer's rows of failures (CustomerRow::failing) are changed, not written.
// `draw` is 64 random bits.
FailureNoted note_failure(storage::Tx& tx, storage::CustomerRow& customer, domain::CallKind call,
                          DeliveryId delivery, std::uint64_t draw, bool answered = false);
// Notes a 429 to the call.
void note_rate_limit(storage::Tx& tx, CloudAccountId cloud_account, domain::CallKind call,
                     DeliveryId delivery, std::optional<Millis> retry_after);
// Notes that the call succeeded, or was found done. Where that ends trouble, the account's queue goes on, and
// deliveries that failed in that trouble as cloud_unavailable are resumed (an account task).
void note_success(storage::Tx& tx, CloudAccountId cloud_account, domain::CallKind call);

// Whether trouble pauses the account's work. Trouble of deliveries that are at work no more does not count: none of them
// makes the call whose success would end it. Nothing is locked.
bool is_in_trouble(storage::Tx& tx, CloudAccountId cloud_account);

// The success of a sweep's page, and a sweep's failure. Both change the row, which the caller has locked and
// writes, and read no delivery. A failure sets when the sweep is due again.
void note_sweep_success(storage::Tx& tx, storage::CloudAccountRow& account);
void note_sweep_failure(storage::Tx& tx, storage::CloudAccountRow& account, bool rate_limited,
                        std::optional<Millis> retry_after);

// If a probe is due: queues the job that probes the account's next failed delivery, by rising id and then
// from the first again, and makes the next probe due in an hour. Deliveries that failed 30 days ago are tried
// no more; without any other the account has no probe. Locks customers and deliveries before the account.
void start_probe(storage::Tx& tx, IdSource& ids, CloudAccountId cloud_account);

// The fault of a stored login itself.
enum class LoginFault {
  refused,    // by the platform
  unreadable  // it cannot be opened (spec 5.4); it is checked again 15 minutes later, as its key may come back
};
// Nothing: the error is no fault of the login.
std::optional<LoginFault> login_fault(const cloud::CloudError& error);

enum class LoginVerdict {
  refused,     // it is still the account's login: its deliveries fail until another is saved
  unreadable,  // likewise, or until it opens again
  changed,     // another has been saved since: the call is to be made with that one
  missing,     // it was deleted
};
// Records that the account's login of that version is at fault, unless it is not the stored one any more. Its
// open deliveries then fail by an account task. Locks the account's standing, and not its cloud account.
LoginVerdict refuse_login(storage::Tx& tx, AccountId account, std::int64_t version,
                          LoginFault fault = LoginFault::refused);

}  // namespace presetbridge::services
