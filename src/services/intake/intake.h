// Accepting orders (spec 2.5, 2.6): what was verified and parsed becomes an order, its delivery and its items
// in one durable transaction, many orders in one commit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "domain/order_event.h"
#include "services/delivery/fulfilment.h"
#include "services/intake/privacy.h"
#include "services/stores/integration_directory.h"
#include "storage/commit/batcher.h"

namespace presetbridge::services {

struct IncomingOrder {
  std::shared_ptr<const IntegrationSnapshot> integration;
  domain::OrderEvent event;
  std::vector<std::byte> payload;  // compressed; kept for the retention time
  ApiKeyId key;                    // in whose usage it counts; none
  // Who asked for a direct delivery (spec 3.8), whose request has been counted already; nothing: a webhook.
  std::optional<domain::Actor> asked_by = {};

  // Worked out by accept() on the caller's thread, so that the storage thread need not: what the order comes
  // to if it is new.
  domain::OrderState fresh = {};
  std::string fresh_text = {};
  domain::OrderSummary fresh_summary = {};
  std::string event_id = {};
  NewOrderPlan plan = {};
};

// The answer to the store (spec 2.12).
struct Accepted {
  bool stale_integration = false;  // nothing was written: the integration changed since it was read
  OrderId order;                   // none: the event belongs to no stored order
  std::string order_id;
  std::string event_id;
  bool duplicate = false;              // the event was no news (spec 2.6)
  bool first_seen = false;             // the order itself was not known before
  bool made_delivery = false;          // whichever event of the order it was
  bool queued = false;                 // the event queued the delivery, which was known before
  std::optional<DeliveryId> delivery;  // none: ignored, for `reason`
  domain::DeliveryStatus status = domain::DeliveryStatus::queued;
  domain::ResolutionCode resolution = domain::ResolutionCode::none;
  std::string reason;
};

// The result of one order of a batch: the answer to the store, and the cost for the queue.
struct Acceptance : Accepted {
  std::size_t cost = 0;  // about the bytes read and written
  bool put_off = false;  // nothing was done: the batch had cost enough
  bool counts = false;   // it made a delivery that usage counts: no dry run (spec 6.4)
};

// Thread-safe. Destroyed after AsyncDatabase::shutdown().
class Intake {
 public:
  // `clock` measures the cost of an event. `accepted` is called, on any thread, after commits that may have
  // made work for the delivery worker, `shop_to_erase` when ShopErasure has work.
  Intake(
      storage::AsyncDatabase& async_db, DeliveryChanges& changes, const Clock& clock, Callback accepted,
      Callback shop_to_erase = [] {});

  // Resumes on `executor` once the order is on disk. Errors: OVERLOADED, STORAGE_UNAVAILABLE, INTERNAL_ERROR.
  Task<Expected<Accepted>> accept(Executor& executor, IncomingOrder order);
  // Orders that wait for a transaction.
  std::size_t waiting() const { return batcher_.queued(); }

 private:
  void accept_batch(storage::Tx& tx, std::span<const IncomingOrder> orders, std::span<Acceptance> answers);
  // Those of `orders` that are new become orders with their deliveries, a statement a table for all. Returns
  // the others.
  std::vector<std::size_t> accept_new(storage::Tx& tx, std::span<const IncomingOrder> orders,
                                      const std::vector<std::size_t>& which, std::span<Acceptance> answers);
  static void hold_rows(DeliverySet& set, std::span<const IncomingOrder> orders,
                        const std::vector<std::size_t>& which, const std::vector<bool>& inserted);
  Acceptance accept_known(storage::Tx& tx, const IncomingOrder& order);

  DeliveryChanges& changes_;
  const Clock& clock_;
  Fulfilment fulfilment_;
  Callback accepted_;
  PrivacyRequests privacy_;
  storage::Batcher<IncomingOrder, Acceptance> batcher_;
};

}  // namespace presetbridge::services
