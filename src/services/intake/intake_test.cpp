#include "services/intake/intake.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::World;

constexpr storage::Sql kCountPayloads{"SELECT count(*) FROM order_payloads"};

std::int64_t payloads(World& world) {
  return world.write([](storage::Tx& tx) {
    return tx.one(kCountPayloads, [](const storage::Row& r) { return r.int64(0); }).value();
  });
}

// What is erased stays so (spec 9.6), whatever comes later.
TEST(Intake, KeepsNoBodyOfAnEventOfAnErasedOrder) {
  World world;
  world.accept(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(payloads(world), 1);
  world.accept({.kind = domain::OrderEvent::Kind::customer_redact,
                .provider = domain::Provider::provider_a,
                .order_ids = {"1"}});
  EXPECT_EQ(payloads(world), 0);
  auto refund = domain::OrderEvent{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  EXPECT_FALSE(world.accept(refund).duplicate) << "a refund is news";
  EXPECT_EQ(payloads(world), 0);
}

}  // namespace
}  // namespace presetbridge::services
