#include "services/intake/intake.h"

#include <gtest/gtest.h>

#include <map>

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

// An erased order stays erased (spec 9.6), whatever comes later.
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

// Spec 8.6: one merchant's orders neither fill the queue nor keep another's waiting.
TEST(Intake, AMerchantHasAnEighthOfWhatWaitsWhileAnotherWaits) {
  World world;
  const auto other = world.add_tenant("m-2");
  const auto snapshot_of = [&](IntegrationId store) {
    return world.await(world.directory.find(world.scheduler, store)).value();
  };
  const auto mine = snapshot_of(world.integration);
  const auto theirs = snapshot_of(other.integration);
  std::map<std::string, std::string> outcomes;
  const auto send = [&](const auto& integration, const std::string& id) {
    const std::vector<std::byte> payload(1 << 20);
    auto event = world.order(id, "Ann", {"sku-1"});
    event.received_at = world.database.clock.now();
    spawn(world.intake.accept(world.scheduler, {integration, std::move(event), payload, {}}),
          [&outcomes, id](auto outcome) {
            outcomes[id] = *outcome.value ? "accepted" : outcome.value->error().code;
          });
  };
  world.async_db.submit([](storage::Tx&) {},
                        [&](const std::exception_ptr&, storage::Completions&) {
                          send(theirs, "first");
                          for (int i = 1; i <= 9; ++i) send(mine, std::to_string(i));
                          send(theirs, "second");
                        });
  for (int i = 0; i < 1'000 && outcomes.size() < 11; ++i) world.scheduler.run();
  EXPECT_EQ(outcomes["first"], "accepted");
  EXPECT_EQ(outcomes["second"], "accepted");
  EXPECT_EQ(outcomes["7"], "accepted") << "the queue takes 64 MiB";
  EXPECT_EQ(outcomes["8"], "OVERLOADED");
  EXPECT_EQ(outcomes["9"], "OVERLOADED");
}

// The cost of a small event shows once its order is read (spec 8.6): a batch does not hold the writer for all
// of them.
TEST(Intake, SmallEventsOfLargeOrdersAreTakenAFewAtATime) {
  World world;
  constexpr int kOrders = 30;
  for (int i = 0; i < kOrders; ++i) {
    auto large = world.order(std::to_string(i), "Ann", std::vector<std::string>(250, std::string(300, 'x')));
    for (auto& line : large.lines) line.title = std::string(200, 'y');
    world.accept(large);
  }
  const auto mine = world.await(world.directory.find(world.scheduler, world.integration)).value();
  int accepted = 0;
  const auto before = world.async_db.stats().units;
  world.async_db.submit(
      [](storage::Tx&) {},
      [&](const std::exception_ptr&, storage::Completions&) {
        for (int i = 0; i < kOrders; ++i) {
          domain::OrderEvent refund{.kind = domain::OrderEvent::Kind::refund, .order_id = std::to_string(i)};
          refund.refunds = {{"r1", {{"L1", 1}}}};
          spawn(world.intake.accept(world.scheduler, {mine, std::move(refund), {}, {}}),
                [&](auto outcome) { accepted += *outcome.value && !(*outcome.value)->duplicate; });
        }
      });
  for (int i = 0; i < 1'000 && accepted < kOrders; ++i) world.scheduler.run();
  EXPECT_EQ(accepted, kOrders);
  EXPECT_GT(world.async_db.stats().units - before, 3U);
}

}  // namespace
}  // namespace presetbridge::services
