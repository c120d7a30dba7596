#include "services/erasure/account_deletion.h"

#include <utility>

#include "identity/audit.h"
#include "identity/membership.h"
#include "identity/sessions.h"
#include "services/accounts/account_lock.h"
#include "services/buyers/customers.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/account_store.h"
#include "storage/stores/bulk_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {

using storage::Tx;

namespace {

// Orders that were on their way when the account was deleted are erased by a second job.
constexpr Millis kOnTheWay{60'000};

}  // namespace

Task<Expected<void>> AccountDeletion::run(Executor& executor, identity::Principal by, std::string name) {
  auto done = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<void> {
    lock_account_of_owner(tx, by);
    if (storage::find_account(tx, by.account).value().name != name)
      return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
                  {{"name", "is not the name of the account"}});
    vault_.remove_in(tx, by);
    audit(tx, ids_, by, {.action = "account.deleted", .target = to_string(by.account)});
    const auto people = storage::list_people(tx, by.account, {.limit = identity::kMostPeople});
    for (const auto& person : people.rows) {
      // In this order: a sign-in holds the person's row, and its session is seen once that is free.
      storage::delete_person(tx, person);
      identity::Sessions::end_all(tx, person.id);
    }
    storage::delete_account_data(tx, by.account);
    for (const auto delay : {Millis{1}, kOnTheWay}) {
      const storage::BulkJobRow job{
          .id = ids_.make<BulkJobId>(),
          .account = by.account,
          .action = std::string(kEraseCustomers),
          .actor = to_string(by.actor()),
          .integration_ids = {},
          .filter = Customers::filter_of({.email = {}, .username = {}, .everybody = true}),
          .as_of = tx.now() + delay,
          .total_is_exact = false,
          .created_at = tx.now()};
      storage::insert_bulk_job(tx, job);
    }
    return {};
  });
  if (!done) co_return std::unexpected(done.error());
  vault_.removed(by.account);
  asked_();
  co_return Expected<void>{};
}

}  // namespace presetbridge::services
