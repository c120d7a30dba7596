// The order in which probes try failed deliveries (spec 3.5).
#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class ProbeOrder : public ::testing::Test {
 protected:
  // `old` orders of Ann failed alone as cloud_unavailable, `ago`; then the young one of Bob, which is
  // returned.
  DeliveryId fail_all(int old, Millis ago) {
    world.hold_queue();
    std::vector<DeliveryId> olds;
    for (int i = 0; i < old; ++i)
      olds.push_back(
          world.accept(world.order("old-" + std::to_string(i), "Ann", {"sku-1"})).delivery.value());
    const auto young = world.accept(world.order("young", "Bob", {"sku-2"})).delivery.value();
    world.write([&](storage::Tx& tx) {
      for (const auto id : olds) fail(tx, id, tx.now() - ago);
      fail(tx, young, tx.now());
      ensure_probe(tx, world.cloud_account, tx.now() + 1h);
    });
    return young;
  }
  int probed() {
    return world.write([&](storage::Tx& tx) {
      return static_cast<int>(
          tx.one({"SELECT count(*) FROM deliveries WHERE probe_until IS NOT NULL"}, [](const auto& r) {
              return r.int64(0);
            }).value());
    });
  }

  World world{WorkerOptions{.jobs_per_minute = 0, .poll = 30min, .maintenance = 1min}};

 private:
  void fail(storage::Tx& tx, DeliveryId id, Timestamp at) {
    DeliverySet set(tx, world.changes);
    auto& row = *set.delivery(id);
    set.apply(row, {.cause = domain::Cause::known_cause, .code = domain::ResolutionCode::cloud_unavailable});
    row.probe_until = at + domain::kFailedProbeLimit;
    set.save();
  }
};

TEST_F(ProbeOrder, AYoungOneIsTriedThoughManyBeforeItAreTooOld) {
  const auto young = fail_all(450, 31 * 24h);
  world.settle(2h);
  EXPECT_EQ(world.status(young), "completed");
  EXPECT_EQ(probed(), 0) << "each old one is read once";
}

TEST_F(ProbeOrder, NoneIsSearchedForWhenAllAreTooOld) {
  fail_all(0, 0h);
  world.write([&](storage::Tx& tx) { tx.exec({"UPDATE deliveries SET probe_until = $1"}, tx.now() - 1h); });
  world.settle(2h);
  EXPECT_FALSE(world.queue().probe_due_at);
}

}  // namespace
}  // namespace presetbridge::services
