// The size of a delivery that is too large, as its page shows it (spec 2.14, 3.1).
#include "services/delivery/order_rules_testing.h"

namespace presetbridge::services {
namespace {

using domain::OrderExcess;
using testing::later;
using testing::OrderRules;

class DeliverySize : public OrderRules {
 protected:
  // The SKU owes so many files.
  void map_many(const std::string& sku, int files) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      std::vector<storage::MappingRow> mappings;
      for (int i = 0; i < files; ++i) {
        mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                             domain::MappingAction::deliver, sku + "-" + std::to_string(i), "preset", "File"},
                            sku,
                            false});
      }
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
  }
  DeliveryView view_of(DeliveryId id) {
    return world.await(world.actions.get(world.scheduler, world.merchant(), id)).value();
  }
};

TEST_F(DeliverySize, IsTheNumberOfLinesThatTheStoreSent) {
  auto event = later(world, "1", {}, 0);
  event.too_large = true;
  event.excess = {.lines = 312, .limit = 250};
  const auto id = deliver(event);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(view_of(id).size, event.excess);
  ASSERT_TRUE(world.await(world.actions.complete(world.scheduler, world.merchant(), id)));
  EXPECT_EQ(view_of(id).size, std::nullopt) << "it is delivered";
}

TEST_F(DeliverySize, IsTheNumberOfFilesThatTheMappingsMake) {
  map_many("many", 501);
  const auto id = deliver(later(world, "1", {"many"}, 0));
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(view_of(id).size, (OrderExcess{.files = 501, .limit = 500}));
  map_many("many", 3);
  ASSERT_TRUE(retry(id, "Bob"));
  EXPECT_EQ(world.status(id), "in_review order_too_large") << "a merchant approves it";
  EXPECT_EQ(view_of(id).items.size(), 3U);
  EXPECT_EQ(view_of(id).size, std::nullopt) << "it is not too large any more";
}

TEST_F(DeliverySize, IsOfTheWholeOrderAfterAnEventThatAddsALine) {
  map_many("sku", 400);
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku"}, 0));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  EXPECT_EQ(view_of(id).size, std::nullopt);
  world.write([&](storage::Tx& tx) {
    auto mappings = find_mappings(tx, world.integration);
    for (auto& stored : std::vector(mappings)) {
      stored.mapping.id = world.ids.make<MappingId>();
      stored.mapping.value = stored.match_value = "other";
      stored.mapping.file_id = "other-" + stored.mapping.file_id;
      mappings.push_back(std::move(stored));
    }
    replace_mappings(tx, world.integration, mappings);
    auto row = *lock_integration(tx, world.integration);
    update_integration(tx, row);
  });
  world.accept(later(world, "1", {"sku", "other"}, 1));
  EXPECT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(view_of(id).size, (OrderExcess{.files = 800, .limit = 500}));
}

TEST_F(DeliverySize, IsNotKnownOfTooManyRefundLines) {
  world.cloud.auto_accept = false;
  const auto id = deliver(later(world, "1", {"sku-1"}, 0));
  auto unread = refund("r1", {});
  unread.refunds.clear();
  unread.too_many_refund_lines = true;
  world.accept(unread);
  ASSERT_EQ(world.status(id), "in_review order_too_large");
  EXPECT_EQ(view_of(id).size, std::nullopt);
}

}  // namespace
}  // namespace presetbridge::services
