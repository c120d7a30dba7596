// What a cloud account's trouble does to its queue (spec 3.5), on the worker in virtual time.
#include "services/worker/account_trouble.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::FakeCloud;
using testing::World;
using Fate = FakeCloud::Fate;

TEST(AccountTrouble, ASuccessfulProbeLetsTheRestGoOnAtOnce) {
  World world;
  world.cloud.before = [](auto&, auto&) { return Fate::fail; };
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::seconds{10});
  world.cloud.before = nullptr;
  // The probe comes a minute after the third failure; the first three failures' own retries may take two
  // more.
  world.settle(std::chrono::seconds{70});
  EXPECT_EQ(world.status(ids[3]), "completed");
}

}  // namespace
}  // namespace presetbridge::services
