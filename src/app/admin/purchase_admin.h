// The operator's commands for purchases of credits (spec 11.3): list them, have the processor asked about
// them again, and give money back.
#pragma once

#include <boost/json/object.hpp>
#include <functional>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "services/payments/settlement.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

// Thread-safe, once it sells or does not.
class PurchaseAdmin {
 public:
  // Both outlive this.
  PurchaseAdmin(storage::AsyncDatabase& async_db, IdSource& ids) : async_db_(async_db), ids_(ids) {}
  // `wake` is called when reconciliation has work. Before anything is asked of it.
  void sell_with(services::Settlement& settlement, std::function<void()> wake) {
    settlement_ = &settlement;
    wake_ = std::move(wake);
  }

  // Arguments as of AdminCommands::run():
  //   purchases [account] [state] [cursor]   -> purchases [{…}], nextCursor
  //   reconcile [purchase] [days]            -> one: its purchase; else due: how many will be asked about,
  //   and
  //                                             the processor's notices of so many days are read again
  //   refund purchase                        -> the purchase, refund {id, amount, status}: all that is left
  //   refund-total purchase total            -> the same, until so much has gone back in all; refund null: it
  //                                             had
  // NOT_FOUND, VALIDATION_FAILED; PAYMENTS_OFF: the processor has to be asked, and no service that has its
  // key is at work here; PAYMENTS_UNAVAILABLE: whether money went back is not known; again it goes back once.
  // CONFLICT: it did not; or an earlier refund of another total is not answered.
  Task<Expected<boost::json::object>> list(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> reconcile(Executor& executor, boost::json::object request);
  Task<Expected<boost::json::object>> refund(Executor& executor, boost::json::object request);

 private:
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  services::Settlement* settlement_ = nullptr;
  std::function<void()> wake_;
};

}  // namespace presetbridge::app
