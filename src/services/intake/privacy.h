// Privacy requests of hosted stores (spec 2.11, 9.6): carried out at once, and kept without a personal field
// (storage/stores/privacy_store.h).
//
// Erases of an order: its personal fields for good, whatever comes later; the payload; those of its delivery
// and its items; and the name of the delivery's customer, where no other delivery that is not erased has a
// job to come, or files, of that customer. Ids, ledger and dedupe keys stay; files that were not shared are
// not delivered any more.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <variant>
#include <vector>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/shared_slots.h"
#include "base/task.h"
#include "domain/order_event.h"
#include "services/delivery/change.h"
#include "storage/commit/async_database.h"
#include "storage/commit/batcher.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

struct Accepted;
struct IncomingOrder;

// Orders erased in one transaction: others wait no longer than for these (spec 8.6).
inline constexpr std::size_t kEraseBatch = 20;

// Those of the orders that there are, each once and in the order of their keys.
void erase_orders(storage::Tx& tx, DeliveryChanges& changes, std::span<const storage::OrderKey> keys);

// Requests of one account that are carried out at one time; others are OVERLOADED (spec 8.6).
inline constexpr int kMostPrivacyRequests = 4;

bool is_privacy_request(domain::OrderEvent::Kind kind);

// Thread-safe. Destroyed after AsyncDatabase::shutdown().
class PrivacyRequests {
 public:
  // `shop_to_erase` is called, on any thread, when a shop is to be erased as a whole.
  PrivacyRequests(storage::AsyncDatabase& async_db, DeliveryChanges& changes, Callback shop_to_erase);

  // When it resumes the request is on disk and what it names is erased, kEraseBatch orders a transaction (of
  // those that there are: a body holds a hundred thousand ids); a
  // shop's orders are erased by ShopErasure. After an error the store sends it again, and it is carried out
  // from the beginning. OVERLOADED: the account has kMostPrivacyRequests under way.
  Task<Expected<Accepted>> accept(Executor& executor, IncomingOrder request);

 private:
  struct Batch {
    AccountId account;
    std::vector<storage::OrderKey> orders;
  };
  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  Callback shop_to_erase_;
  SharedSlots under_way_{std::numeric_limits<int>::max()};
  // One batch at a time, accounts in turn.
  storage::Batcher<Batch, std::monostate> batches_;
};

// The owner of a batch of an erasure.
struct ErasureTurn {
  PrivacyRequestId request;
  IntegrationId integration;
  Timestamp at;  // the database's time
};

// The loop that erases shops, a batch a transaction, on from where it was after a crash. The shops take
// turns, a batch each; one that could not be erased is left alone for ten minutes. Lives on `scheduler`,
// where all of it but wake() is called. Nodes may do it at once.
class ShopErasure {
 public:
  // All outlive this.
  ShopErasure(Scheduler& scheduler, storage::AsyncDatabase& async_db, DeliveryChanges& changes, Log& log)
      : scheduler_(scheduler),
        async_db_(async_db),
        changes_(changes),
        log_(log),
        tasks_(scheduler, {.log = log, .message = "the erasure of shops has ended by a fault"}) {}

  void start();
  // `stopped` is called once, when the batch under way has ended.
  void stop(Callback stopped);
  // Any thread: there may be a shop to erase.
  void wake() { tasks_.wake(); }

 private:
  Task<void> loop();

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  Log& log_;
  PrivacyRequestId last_;  // whose turn it was; none: a round begins
  std::map<PrivacyRequestId, Timestamp> postponed_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
