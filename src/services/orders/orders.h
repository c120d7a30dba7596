// The orders of stores, those that deliver nothing included, and processing one again (spec 9.3).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "services/delivery/change.h"
#include "services/stores/integration_directory.h"
#include "storage/commit/async_database.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/order_list.h"

namespace presetbridge::services {

struct OrderQuery {
  std::optional<domain::OrderOutcome> outcome;  // nothing: all
  IntegrationId integration;
  bool unmapped = false;
  std::string search;  // as somebody typed it; empty: all
  std::optional<Timestamp> received_from;
  std::optional<Timestamp> received_before;
  storage::PageRequest page = {};
};

struct OrderInList {
  storage::ListedOrder order;
  std::string integration_name;
  std::optional<storage::DeliveryStanding> delivery;
};

struct OrderLineView {
  domain::OrderLine line;
  std::int64_t refunded = 0;  // of its quantity, or taken out of the order
  // The match of the current mappings without stale ones, as processing it again would find it.
  std::optional<domain::MatchType> matched_by;
  std::vector<MappingId> mappings;
  std::vector<storage::ItemRow>
      files;  // that the delivery's present customer is owed, or was, for it: the first 20
  std::size_t file_count = 0;
};
struct OrderView {
  storage::ListedOrder order;
  std::string integration_name;
  std::optional<storage::DeliveryStanding> delivery;
  std::vector<OrderLineView> lines;
  std::optional<Timestamp> payload_received_at;  // nothing: none is kept
  bool reprocessable = false;                    // may_reprocess() refuses nothing
};

struct OrderPayload {
  Timestamp received_at;
  std::string body;  // as the store sent it
};

inline constexpr std::size_t kFilesOfLine = 20;

// Thread-safe. A key that is limited to integrations sees the orders of those alone; others, and another
// account's, are NOT_FOUND.
class Orders {
 public:
  // All outlive this. `changed` is called, on any thread, when there may be new work for the delivery worker.
  Orders(storage::AsyncDatabase& async_db, DeliveryChanges& changes, IntegrationDirectory& directory,
         std::function<void()> changed)
      : async_db_(async_db), changes_(changes), directory_(directory), changed_(std::move(changed)) {}

  // Newest first; a page may be short and have a next one: storage/stores/order_list.h.
  Task<Expected<storage::Page<OrderInList>>> list(Executor& executor, identity::Principal by,
                                                  OrderQuery query);
  Task<Expected<OrderView>> get(Executor& executor, identity::Principal by, OrderId id);
  // The newest payload of the order itself. NOT_FOUND too where none is kept (any more).
  Task<Expected<OrderPayload>> payload(Executor& executor, identity::Principal by, OrderId id);
  // delivery/reprocess.h. INVALID_TRANSITION too where the store is archived.
  Task<Expected<OrderView>> reprocess(Executor& executor, identity::Principal by, OrderId id);

 private:
  storage::AsyncDatabase& async_db_;
  DeliveryChanges& changes_;
  IntegrationDirectory& directory_;
  const std::function<void()> changed_;
};

// Who asked for it, and for whose usage a delivery that it makes counts.
struct ReprocessedFor {
  domain::Actor actor;
  ApiKeyId key;  // none: the store's owning key's
};
// In the caller's transaction, with `store` as it was read before. Nothing: the store has changed since, or
// is another; nothing was done.
std::optional<Expected<void>> reprocess_in(storage::Tx& tx, DeliveryChanges& changes, OrderId id,
                                           const IntegrationSnapshot& store, const ReprocessedFor& asked);

}  // namespace presetbridge::services
