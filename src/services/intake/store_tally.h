// Counts the requests of stores (spec 2.3, 9.1, 9.2): accepted and refused requests by the hour, the newest
// order, the topics, where the store is, and the products that orders name. It is gathered in memory and
// written each few seconds, many stores in one transaction, so that no request waits for it and none that is
// refused writes anything. A process that dies loses what it gathered since; a stop writes it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "services/intake/intake.h"
#include "services/stores/integration_directory.h"
#include "storage/commit/async_database.h"
#include "storage/stores/product_store.h"
#include "storage/stores/store_activity_store.h"

namespace presetbridge::services {

// The parts of an event that are counted if it is accepted.
struct SeenEvent {
  struct Product {
    std::string key;  // domain::product_key()
    domain::OrderLine line;
  };
  std::string topic;              // empty: the platform names none, or it is not written as one
  std::vector<Product> products;  // of an order that is no platform's sample
  bool test = false;              // its products were named, and not sold
  std::string origin;             // where the store is; empty: not said
  bool direct = false;            // a request of the merchant's program, to no store's address
};
// The request's data beside the order.
struct SentWith {
  std::string_view topic;
  std::string origin = {};
};
SeenEvent seen(const domain::OrderEvent& event, SentWith with);

// accepted() and refused() are called on any thread; all else on `scheduler`. Destroyed after
// AsyncDatabase::shutdown().
class StoreTally {
 public:
  struct Options {
    Millis period{2'000};
    std::size_t most_products = 20'000;  // gathered at one time; further ones are not
    std::size_t most_products_of_store = 2'500;
    std::size_t most_stores = 20'000;
    std::size_t batch = 500;  // rows of a kind in one transaction
  };
  // All outlive this.
  StoreTally(Scheduler& scheduler, storage::AsyncDatabase& async_db, IdSource& ids, const Clock& clock,
             Log& log)
      : StoreTally(scheduler, async_db, ids, clock, log, Options{}) {}
  StoreTally(Scheduler& scheduler, storage::AsyncDatabase& async_db, IdSource& ids, const Clock& clock,
             Log& log, Options options)
      : scheduler_(scheduler),
        async_db_(async_db),
        ids_(ids),
        clock_(clock),
        log_(log),
        options_(options),
        tasks_(scheduler, {.log = log, .message = "the count of what stores send has ended by a fault"}) {}

  void accepted(const std::shared_ptr<const IntegrationSnapshot>& integration, const SeenEvent& event,
                const Accepted& answer);
  // `code`: the error's (spec 2.12). The integration exists.
  void refused(IntegrationId integration, std::string_view code);

  void start();
  // `stopped` is called once, when what was gathered is written, or cannot be.
  void stop(Callback stopped);
  // Writes what is gathered; what cannot be written for want of storage stays.
  Task<void> flush();

 private:
  struct Count {
    Timestamp hour;
    std::string what;
    std::int64_t events = 0;
    Timestamp last_at;
  };
  struct Topic {
    std::string name;
    Timestamp at;
  };
  struct Store {
    std::vector<Count> counts;
    std::optional<Timestamp> last_order;
    std::vector<Topic> topics;
    std::string origin;
    std::unordered_map<std::string, storage::ProductRow> products;
    std::int64_t version = 0;  // of the integration, as whose mappings say which products are mapped
  };
  using Stores = std::unordered_map<IntegrationId, Store>;

  // Under the lock. Null: there is no room.
  Store* store(IntegrationId id);
  static void count(Store& store, std::string_view what, std::int64_t events, Timestamp at);
  void note_products(Store& store, const IntegrationSnapshot& integration, const SeenEvent& event, bool sold,
                     Timestamp at);
  // Puts back what could not be written.
  void keep(Stores stores);
  Task<void> loop();
  // Whether a batch that was not written is to be forgotten: it is not the storage's trouble, and would hold
  // up the others for ever.
  bool dropped(const Error& error, std::string_view what);
  Task<bool> write_counts(Stores& stores);
  Task<bool> write_products(Stores& stores);
  // Products whose store's mappings have changed since they were looked up.
  Task<void> match_changed(const std::unordered_map<IntegrationId, std::int64_t>& versions);

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const Clock& clock_;
  Log& log_;
  const Options options_;
  BackgroundTasks tasks_;
  std::mutex mutex_;  // guards stores_, products_ and dropped_
  Stores stores_;
  std::size_t products_ = 0;  // in stores_
  std::int64_t dropped_ = 0;  // for want of room, since the last flush
};

}  // namespace presetbridge::services
