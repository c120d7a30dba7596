#include "storage/testing/old_deliveries.h"

#include <gtest/gtest.h>

#include <array>

#include "base/id_time.h"
#include "storage/schema/migrations.h"
#include "storage/stores/account_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/timeline_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

class OldDeliveriesTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  // Two merchants; the second one has a subscription.
  OldDeliveriesTest() {
    if (!migrate(*db_)) throw std::runtime_error("the schema could not be made");
    db_->write([](Tx& tx) {
      for (const std::int64_t n : {1, 2}) {
        insert_account(tx, AccountId{n}, "a merchant");
        const auto cloud = find_or_insert_cloud_account(tx, "m-" + std::to_string(n), "m", CloudAccountId{n});
        update_standing(tx, AccountId{n}, {CredentialsStatus::valid, 1, cloud});
        IntegrationRow row{.id = IntegrationId{n}, .account = AccountId{n}, .name = "Store"};
        row.encrypted_secret = std::vector<std::byte>(3);
        insert_integration(tx, row);
      }
      SubscriptionRow row{.id = SubscriptionId{7}, .account = AccountId{2}, .url = "https://example.com/"};
      row.encrypted_secret = std::vector<std::byte>(3);
      insert_subscription(tx, row);
    });
  }

  std::int64_t count(const Sql& sql) {
    std::int64_t n = 0;
    db_->read([&](Tx& tx) { n = tx.one(sql, [](const Row& r) { return r.int64(0); }).value(); });
    return n;
  }

  testing::TemporaryDatabase db_{GetParam(), testing::TemporaryPostgres::Kind::quick};
};

TEST_P(OldDeliveriesTest, AreWholeDeliveriesOfEachStoreWithAllThatIsStoredOfThem) {
  testing::insert_old_deliveries(*db_, 101, db_.clock.now());
  static constexpr Sql customers{"SELECT count(*) FROM customers"};
  static constexpr Sql events{"SELECT count(*) FROM outbound_events WHERE account_id = 2"};
  static constexpr Sql dispatches{"SELECT count(*) FROM webhook_sends WHERE subscription_id = 7"};
  static constexpr Sql pending{"SELECT count(*) FROM webhook_sends WHERE status <> 'succeeded'"};
  static constexpr Sql others{"SELECT count(*) FROM outbound_events WHERE account_id <> 2"};
  EXPECT_EQ(count(customers), 52);
  EXPECT_EQ(count(events), 2 * 50);
  EXPECT_EQ(count(dispatches), 2 * 50);
  EXPECT_EQ(count(pending), 0);
  EXPECT_EQ(count(others), 0);

  db_->read([&](Tx& tx) {
    for (const std::int64_t n : {1, 2}) {
      const DeliveryFilter filter{.account = AccountId{n}, .page = {.limit = 200}};
      const auto rows = list_deliveries(tx, filter).rows;
      ASSERT_EQ(rows.size(), n == 1 ? 51U : 50U);
      for (const auto& row : rows) {
        EXPECT_EQ(row.status, domain::DeliveryStatus::completed);
        EXPECT_EQ(row.integration, IntegrationId{n});
        EXPECT_LT(row.id.value, first_id_at(db_.clock.now()));
        EXPECT_EQ(first_id_at(row.created_at), row.id.value >> 22 << 22) << "the id has the time";
        EXPECT_EQ(find_timeline(tx, row.id, 9).size(), 1U);
        ASSERT_EQ(find_items(tx, row.id).size(), 1U);
        EXPECT_TRUE(find_items(tx, row.id).front().spent);
        const auto customer = find_customer(tx, row.customer).value();
        EXPECT_EQ(customer.cloud_account, row.cloud_account);
        EXPECT_EQ(customer.username_key, row.username);
        EXPECT_EQ(customer.friendship, Friendship::friends);
        const auto items = find_items_of_customers(tx, std::array{row.customer});
        ASSERT_LE(items.size(), 2U);
        EXPECT_NE(items.front().file_id, items.size() == 2 ? items.back().file_id : "") << "shared once";
      }
      const auto balance = find_balance(tx, AccountId{n}).value();
      EXPECT_EQ(balance.spent, static_cast<std::int64_t>(rows.size()));
      EXPECT_EQ(list_ledger(tx, AccountId{n}, {}, 200).size(), rows.size());
    }
    EXPECT_EQ(list_attempts(tx, SubscriptionId{7}, {.limit = 200}).rows.size(), 100U);
  });
}

INSTANTIATE_TEST_SUITE_P(Engines, OldDeliveriesTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
