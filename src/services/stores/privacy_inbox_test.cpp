// Privacy requests as a merchant sees and closes them (spec 9.6).
#include "services/stores/privacy_inbox.h"

#include <gmock/gmock.h>

#include "services/orders/orders_testing.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {
namespace {

using domain::OrderEvent;
using ::testing::IsEmpty;
using testing::OrdersTest;
using ::testing::SizeIs;

TEST_F(OrdersTest, AMerchantSeesWhichOrdersADataRequestNames) {
  const auto delivery = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto unmapped = world.accept(world.order("2", "Ann", {"unknown"}));
  ASSERT_FALSE(unmapped.delivery);
  world.accept({.kind = OrderEvent::Kind::data_request,
                .provider = domain::Provider::provider_a,
                .email = "ann@example.com",
                .order_ids = {"3", "1", "2", "1"}});
  PrivacyInbox inbox(world.async_db, world.ids);
  const auto me = world.merchant();
  const auto id = world.await(inbox.list(world.scheduler, me, true, {})).value().rows.at(0).id;
  const auto page = [&](const identity::Principal& by, storage::PageRequest request) {
    return world.await(inbox.orders(world.scheduler, by, id, request));
  };
  const auto first = page(me, {.limit = 2}).value();
  ASSERT_THAT(first.rows, SizeIs(2));
  EXPECT_EQ(first.rows[0].order_key, "1");
  EXPECT_EQ(first.rows[0].order.value, delivery.value);
  EXPECT_TRUE(first.rows[0].delivered);
  EXPECT_EQ(first.rows[1].order_key, "2");
  EXPECT_TRUE(first.rows[1].order);
  EXPECT_FALSE(first.rows[1].delivered) << "it delivers nothing";
  ASSERT_TRUE(first.next);
  const auto rest = page(me, {.limit = 2, .before = *first.next}).value();
  ASSERT_THAT(rest.rows, SizeIs(1));
  EXPECT_EQ(rest.rows[0].order_key, "3");
  EXPECT_FALSE(rest.rows[0].order) << "it never came";
  EXPECT_FALSE(rest.next);
  auto stranger = me;
  stranger.account = world.add_tenant("m-2").account;
  auto limited = me;
  limited.integrations = identity::IntegrationScope({world.ids.make<IntegrationId>()});
  for (const auto& by : {stranger, limited}) EXPECT_EQ(page(by, {}).error().code, "NOT_FOUND");
}

TEST_F(OrdersTest, AMerchantSeesAndClosesPrivacyRequests) {
  const OrderEvent asked{.kind = OrderEvent::Kind::data_request,
                         .provider = domain::Provider::provider_a,
                         .email = "buyer@example.com",
                         .order_ids = {"1"}};
  world.accept(asked);
  PrivacyInbox inbox(world.async_db, world.ids);
  const auto list_open = [&](const identity::Principal& by, bool open) {
    return world.await(inbox.list(world.scheduler, by, open, {})).value().rows;
  };
  const auto me = world.merchant();
  ASSERT_THAT(list_open(me, true), SizeIs(1));
  const auto id = list_open(me, true)[0].id;
  auto stranger = me;
  stranger.account = world.add_tenant("m-2").account;
  auto limited = me;
  limited.integrations = identity::IntegrationScope({world.ids.make<IntegrationId>()});
  for (const auto& by : {stranger, limited}) {
    EXPECT_THAT(list_open(by, false), IsEmpty());
    EXPECT_EQ(world.await(inbox.close(world.scheduler, by, id)).error().code, "NOT_FOUND");
  }
  EXPECT_TRUE(world.await(inbox.close(world.scheduler, me, id)).value().closed_at);
  EXPECT_EQ(world.await(inbox.close(world.scheduler, me, id)).error().code, "CONFLICT");
  EXPECT_THAT(list_open(me, true), IsEmpty());
  EXPECT_THAT(list_open(me, false), SizeIs(1));
  const auto audit = world.write([&](storage::Tx& tx) { return list_audit(tx, world.account, {}).rows; });
  EXPECT_EQ(std::ranges::count(audit, "privacy_request.closed", &storage::AuditRow::action), 1);
}

}  // namespace
}  // namespace presetbridge::services
