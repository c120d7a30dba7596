// A fixture with one store, whose orders are listed, shown and processed again.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "services/orders/orders.h"
#include "services/testing.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services::testing {

class OrdersTest : public ::testing::Test {
 protected:
  void map(const std::string& sku, const std::string& file, int files = 1) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      for (int i = 0; i < files; ++i) {
        const auto name = files == 1 ? file : file + "-" + std::to_string(i);
        mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                             domain::MappingAction::deliver, name, "preset", "File " + name},
                            sku,
                            false});
      }
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
    world.directory.forget(world.integration);
  }
  void set_active(bool active) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      row.active = active;
      update_integration(tx, row);
    });
  }
  storage::Page<OrderInList> list(OrderQuery query = {}) {
    return world.await(orders.list(world.scheduler, world.merchant(), std::move(query))).value();
  }
  std::vector<std::string> keys(OrderQuery query) {
    std::vector<std::string> found;
    for (const auto& row : list(std::move(query)).rows) found.push_back(row.order.order_key);
    return found;
  }
  OrderView get(OrderId id) { return world.await(orders.get(world.scheduler, world.merchant(), id)).value(); }
  Expected<OrderView> reprocess(OrderId id) {
    return world.await(orders.reprocess(world.scheduler, world.merchant(), id));
  }
  Accepted order(const std::string& id, std::vector<std::string> skus, int minute = 0) {
    return world.accept(later(world, id, std::move(skus), minute));
  }
  // Listens to everything.
  void subscribe(std::string types = "") {
    world.write([&](storage::Tx& tx) {
      tx.exec({"INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types,"
               " integration_ids, created_at) VALUES ($1, $2, 'https://x.example', $3, $4, '', 0)"},
              world.ids.next(), world.account, std::vector<std::byte>(8), types);
    });
  }
  std::vector<boost::json::object> events(const std::string& type) {
    std::vector<boost::json::object> bodies;
    world.write([&](storage::Tx& tx) {
      bodies.clear();
      tx.query(
          {"SELECT body FROM outbound_events WHERE type = $1 ORDER BY id"}, type, [&](const storage::Row& r) {
            const auto body = r.bytes(0);
            bodies.push_back(boost::json::parse(boost::json::string_view(
                                                    reinterpret_cast<const char*>(body.data()), body.size()))
                                 .as_object());
          });
    });
    return bodies;
  }

  World world;
  Orders orders{world.async_db, world.changes, world.directory, [this] { world.worker->wake(); }};
};

}  // namespace presetbridge::services::testing
