// Trouble of a cloud account or of the platform (spec 3.5), written to the account's row: the one place where
// it begins and ends. What it means is domain/trouble.h's. Each function locks the account, reads which of
// its failing deliveries are still at work, and expects what the transaction knows of deliveries to be
// written.
#pragma once

#include <optional>

#include "base/ids.h"
#include "cloud/cloud.h"
#include "domain/trouble.h"
#include "storage/database.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// What a function here made of the account: an outage began, or the last one of it ended.
enum class OutageTurn { none, began, ended };

struct FailureNoted {
  std::optional<Timestamp> retry_at;  // of the customer's deliveries
  bool paused = false;                // it was the account's trouble; else, without retry_at, they fail
  OutageTurn outage = OutageTurn::none;
};

// A passing failure of a call of this customer's job for `delivery`, none if for none of them. `answered`:
// the platform said no, so that it is no trouble of the account's; nor is a revocation that fails, which
// holds up no order. The customer's rows of failures are changed, not written.
FailureNoted note_failure(storage::Tx& tx, storage::CustomerRow& customer, domain::CallKind call,
                          DeliveryId delivery, std::uint64_t draw, bool answered = false);
// 429.
OutageTurn note_rate_limit(storage::Tx& tx, CloudAccountId cloud_account, domain::CallKind call,
                           DeliveryId delivery, std::optional<Millis> retry_after);
// The call succeeded, or was found done: what waited for that goes on, and what failed as cloud_unavailable
// is resumed.
OutageTurn note_success(storage::Tx& tx, CloudAccountId cloud_account, domain::CallKind call);

// For a sweep that ends: both change the row, which the caller holds locked and writes.
void note_sweep_success(storage::Tx& tx, storage::CloudAccountRow& account);
void note_sweep_failure(storage::Tx& tx, storage::CloudAccountRow& account, bool rate_limited,
                        std::optional<Millis> retry_after);

// One of the account's failed deliveries is tried again now, in turn, and the next in an hour: the job is
// queued. Nothing is tried any more when there is none, or 30 days after it failed.
void start_probe(storage::Tx& tx, IdSource& ids, CloudAccountId cloud_account);

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
