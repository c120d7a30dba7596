// What a delivery's page shows.
#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::World;

// Spec 8.6: a look costs no more than its bound, however long the queue is.
TEST(DeliveryView, APlaceInTheQueueIsCountedToABound) {
  World world;
  world.write([](storage::Tx& tx) {
    const Timestamp until = tx.now() + std::chrono::hours{24};
    tx.exec({"UPDATE cloud_accounts SET blocked_until = $1, ready_at = $1"}, until);
  });
  std::vector<DeliveryId> all;
  for (int i = 1; i <= storage::kMostBefore + 20; ++i) {
    all.push_back(
        *world.accept(world.order(std::to_string(i), "buyer" + std::to_string(i), {"sku-1"})).delivery);
    world.database.clock.advance(Millis{1});
  }
  const auto view = [&](std::int64_t nth) {
    return world
        .await(world.actions.get(world.scheduler, world.merchant(), all[static_cast<std::size_t>(nth - 1)]))
        .value();
  };
  const auto place = [&](std::int64_t nth) { return view(nth).queue_position; };
  EXPECT_EQ(place(1), 1);
  EXPECT_EQ(place(storage::kMostBefore), storage::kMostBefore);
  EXPECT_EQ(place(storage::kMostBefore + 1), storage::kMostBefore + 1);
  EXPECT_EQ(place(storage::kMostBefore + 20), storage::kMostBefore + 1);
  EXPECT_TRUE(view(storage::kMostBefore).estimated_at);
  EXPECT_FALSE(view(storage::kMostBefore + 20).estimated_at);
}

}  // namespace
}  // namespace presetbridge::services
