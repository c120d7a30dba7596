// Trouble of a cloud account or of the platform (spec 3.5), written to the account's row: it pauses the
// account's queue and costs no delivery a try.
#pragma once

#include <optional>

#include "base/ids.h"
#include "cloud/cloud.h"
#include "domain/account_pause.h"
#include "storage/database.h"

namespace presetbridge::services {

// A transient failure while working on `delivery`. True: the account is paused now, so it was no fault of the
// delivery.
bool pause_after_failure(storage::Tx& tx, CloudAccountId cloud_account, DeliveryId delivery);
// 429.
void pause_for_rate_limit(storage::Tx& tx, CloudAccountId cloud_account, std::optional<Millis> retry_after);
// A probe failed. After 72 h of trouble what is queued fails as cloud_unavailable: a piece at a time, and not
// from the beginning at every probe.
void give_up(storage::Tx& tx, CloudAccountId cloud_account, const domain::AccountPause& pause);
// A call was answered: what was paused goes on, and what failed as cloud_unavailable is resumed.
void end_account_trouble(storage::Tx& tx, CloudAccountId cloud_account);

// What is wrong with a stored login itself.
enum class LoginFault {
  refused,    // by the platform
  unreadable  // it cannot be opened (spec 5.4); tried again some minutes later, as its key may come back
};
// Nothing: the error is of something else.
std::optional<LoginFault> login_fault(const cloud::CloudError& error);

enum class LoginVerdict {
  refused,     // it is the account's login still: its deliveries fail until another is saved
  unreadable,  // likewise, or until it opens again
  changed,     // another has been saved since: try with that
  missing,     // it was deleted
};
// The login of that version is at fault.
LoginVerdict refuse_login(storage::Tx& tx, AccountId account, std::int64_t version,
                          LoginFault fault = LoginFault::refused);

}  // namespace presetbridge::services
