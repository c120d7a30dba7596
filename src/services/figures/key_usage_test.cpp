// The totals of an API key and its usage over time count the same requests and deliveries (spec 2.4, 6.4): the
// totals stand in its row, the usage in sums of quarters of an hour.
#include <gtest/gtest.h>

#include "services/figures/statistics.h"
#include "services/orders/orders.h"
#include "services/testing.h"
#include "storage/stores/api_key_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using testing::World;

class KeyUsageTest : public ::testing::Test {
 protected:
  KeyUsageTest() {
    world.write([&](storage::Tx& tx) {
      insert_api_key(tx, {.id = key, .account = world.account, .name = "My program", .rate_limit = 100},
                     std::vector<std::byte>(8));
    });
  }
  void accept(OrderEvent event, std::optional<domain::Actor> asked_by = {}) {
    event.received_at = world.database.clock.now();
    auto store = world.await(world.directory.find(world.scheduler, world.integration, Millis{0})).value();
    ASSERT_TRUE(world.await(world.intake.accept(
        world.scheduler,
        {.integration = store, .event = std::move(event), .payload = {}, .key = key, .asked_by = asked_by})));
  }
  // Requests and deliveries, by the totals of the key.
  std::pair<std::int64_t, std::int64_t> totals() {
    return world.write([&](storage::Tx& tx) {
      const auto row = find_api_key(tx, world.account, key).value();
      return std::pair{row.requests, row.deliveries};
    });
  }
  // Requests and deliveries, by the sums of a day.
  std::pair<std::int64_t, std::int64_t> used() {
    const auto now = world.database.clock.now();
    const domain::TimeBuckets day{TimeZone::find("UTC").value(), domain::Bucket::day,
                                  std::chrono::floor<std::chrono::days>(now), now + Millis{1}};
    const auto usage = world
                           .await(statistics.usage(world.scheduler, world.merchant(), day,
                                                   {.integration = {}, .key = key}, UsageBy::none))
                           .value()
                           .totals;
    return {usage.requests, usage.deliveries.made};
  }

  World world;
  ApiKeyId key = world.ids.make<ApiKeyId>();
  LimitedRequests limited{world.async_db};
  Statistics statistics{world.async_db, limited};
};

using Counted = std::pair<std::int64_t, std::int64_t>;

TEST_F(KeyUsageTest, AnOrderWebhookIsARequestAndItsDeliveryCounts) {
  accept(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(totals(), Counted(1, 1));
  EXPECT_EQ(used(), totals());
}

TEST_F(KeyUsageTest, ADirectDeliveryIsNoRequestBesideTheOneThatWasAdmitted) {
  accept(world.order("1", "Ann", {"sku-1"}), domain::Actor::api_key(key));
  EXPECT_EQ(totals(), Counted(0, 1)) << "admission counts the request, and did not take place here";
  EXPECT_EQ(used(), totals());
}

TEST_F(KeyUsageTest, APrivacyWebhookIsARequest) {
  for (const auto kind : {OrderEvent::Kind::data_request, OrderEvent::Kind::customer_redact})
    accept({.kind = kind,
            .provider = domain::Provider::provider_a,
            .email = "x@example.com",
            .order_ids = {"1"}});
  EXPECT_EQ(totals(), Counted(2, 0));
  EXPECT_EQ(used(), totals());
}

TEST_F(KeyUsageTest, ADeliveryOfATestOrderCountsInNeither) {
  auto order = world.order("1", "Ann", {"sku-1"});
  order.test = true;
  accept(order);
  auto later_a_test = world.order("2", "Ann", {});
  accept(later_a_test);
  later_a_test.test = true;
  later_a_test.lines = order.lines;
  accept(later_a_test);
  EXPECT_EQ(totals(), Counted(3, 0));
  EXPECT_EQ(used(), totals());
}

TEST_F(KeyUsageTest, ATestOrderThatIsProcessedAgainCountsInNeither) {
  auto order = world.order("1", "Ann", {"new"});
  order.test = true;
  accept(order);
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    replace_mappings(tx, world.integration,
                     {{{world.ids.make<MappingId>(), domain::MatchType::sku, "new",
                        domain::MappingAction::deliver, "file-9", "preset", "File 9"},
                       "new",
                       false}});
    row.owning_key = key;
    update_integration(tx, row);
  });
  world.directory.forget(world.integration);
  Orders orders(world.async_db, world.changes, world.directory, [] {});
  const auto by = world.merchant();
  const auto listed = world.await(orders.list(world.scheduler, by, {})).value().rows;
  ASSERT_EQ(listed.size(), 1U);
  const auto done = world.await(orders.reprocess(world.scheduler, by, listed.front().order.id)).value();
  ASSERT_TRUE(done.delivery && done.delivery->dry_run);
  EXPECT_EQ(totals(), Counted(1, 0));
  EXPECT_EQ(used(), totals());
}

}  // namespace
}  // namespace presetbridge::services
