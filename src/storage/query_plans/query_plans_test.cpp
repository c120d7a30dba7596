// Tests how each engine finds the rows of the hot queries, in tables full of finished work: by an index with a
// condition for these rows, or by a partial index that holds nothing but work to do. The statements are those that
// the stores run, explained on their way to the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "storage/query_plans/account_queries_testing.h"
#include "storage/query_plans/delivery_queries_testing.h"
#include "storage/query_plans/explaining_driver_testing.h"
#include "storage/query_plans/hot_query_testing.h"
#include "storage/query_plans/order_queries_testing.h"
#include "storage/query_plans/webhook_queries_testing.h"
#include "storage/query_plans/worker_queries_testing.h"
#include "storage/schema/migrations.h"
#include "storage/stores/account_store.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/mail_store.h"
#include "storage/stores/product_store.h"
#include "storage/stores/purchase_store.h"
#include "storage/stores/session_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/testing.h"
#include "storage/testing/old_deliveries.h"

namespace presetbridge::storage {
namespace {

using testing::Engine;
using testing::ExplainingDriver;
using testing::HotQuery;
using ::testing::IsEmpty;
using testing::Known;
using ::testing::Not;

// Few, so that it would seem cheap to read an account's deliveries by id alone, past those of the others.
constexpr int kStores = 20;
// Without a store. Enough that looking up those of a batch is cheaper than reading all.
constexpr int kOtherAccounts = 100;
constexpr int kOldDeliveries = 10'000;
constexpr int kOldPurchases = 5'000;

std::vector<HotQuery> hot_queries(const Known& k) {
  std::vector<HotQuery> all;
  for (auto& of_subject :
       {testing::worker_queries(k), testing::delivery_queries(k), testing::order_queries(k),
        testing::webhook_queries(k), testing::account_queries(k)}) {
    all.insert(all.end(), of_subject.begin(), of_subject.end());
  }
  return all;
}

// Thrown, so that a transaction has no effect.
struct Undo {};

enum class Statistics { none, fresh };

class QueryPlansTest : public ::testing::TestWithParam<std::tuple<Engine, Statistics>> {
 protected:
  QueryPlansTest() {
    if (!migrate(*db_)) throw std::runtime_error("the schema could not be made");
    db_->write([&](Tx& tx) {
      for (int n = 1; n <= kStores; ++n) make_store(tx, n);
    });
    testing::insert_old_deliveries(*db_, kOldDeliveries, db_.clock.now());
    db_->write([&](Tx& tx) {
      leave_work(tx);
      insert_activity(tx);
      for (int n = 1; n <= kOldDeliveries / 10; ++n) insert_store_activity(tx, IntegrationId{n});
      for (int n = kStores + 1; n <= kStores + kOtherAccounts; ++n) make_account(tx, n);
      for (int n = 1; n <= kOldDeliveries / 10; ++n) make_session(tx, n);
      for (int n = 1; n <= kOldPurchases; ++n) make_purchase(tx, n);
      for (int n = 1; n <= kOldPurchases; ++n) make_mail_link(tx, n);
    });
    if (std::get<1>(GetParam()) == Statistics::fresh) db_->write([](Tx& tx) { tx.exec_script("ANALYZE;"); });
  }

  static void make_account(Tx& tx, int n) {
    const AccountId account{n};
    insert_account(tx, account, "a merchant");
    const auto cloud =
        find_or_insert_cloud_account(tx, "merchant-" + std::to_string(n), "m", CloudAccountId{n});
    update_standing(tx, account, {CredentialsStatus::valid, 1, cloud});
  }

  // One in a hundred is still pending.
  static void make_purchase(Tx& tx, int n) {
    const auto number = std::to_string(n);
    PurchaseRow row{.id = PurchaseId{n},
                    .account = AccountId{1 + n % (kStores + kOtherAccounts)},
                    .created_at = tx.now()};
    row.pack_id = row.pack_name = "small";
    row.credits = row.amount = 10;
    row.currency = "eur";
    insert_purchase(tx, row);
    row.session = "cs_" + number;
    row.payment = "pi_" + number;
    if (n % 100 == 0) {
      row.due_at = tx.now();
    } else {
      row.standing = {.state = domain::PurchaseState::paid, .granted = 10};
      row.paid_at = tx.now();
    }
    update_purchase(tx, row);
  }

  // Sent, but for one in a hundred.
  static void make_mail_link(Tx& tx, int n) {
    MailLinkRow row{.id = MailLinkId{n}, .user = UserId{n}, .created_at = tx.now(), .expires_at = tx.now()};
    row.email_hash = {static_cast<std::byte>(n), static_cast<std::byte>(n / 256)};
    if (n % 100 == 0) row.due_at = tx.now();
    insert_mail_link(tx, row);
  }

  static void make_store(Tx& tx, int n) {
    const AccountId account{n};
    make_account(tx, n);
    put_credentials(tx, {.account = account, .version = 1, .masked_email = "m", .saved_at = tx.now()},
                    std::vector<std::byte>(3));
    IntegrationRow row{.id = IntegrationId{n}, .account = account, .name = "Store"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_integration(tx, row);
    SubscriptionRow subscription{.id = SubscriptionId{n}, .account = account, .url = "https://example.com/"};
    subscription.encrypted_secret = std::vector<std::byte>(3);
    insert_subscription(tx, subscription);
  }

  // Signed out of, but for the newest.
  static void make_session(Tx& tx, int n) {
    const UserId user{n % (kStores + kOtherAccounts) + 1};
    const auto sub = std::to_string(user.value);
    insert_identity(tx, "iss", sub, {AccountId{user.value}, user, "owner"});
    insert_session(tx, {.id = SessionId{n}, .user = user, .iss = "iss", .sub = sub, .expires_at = tx.now()});
    const std::string hash = std::to_string(n);
    insert_session_token(tx, std::as_bytes(std::span(hash)), SessionId{n}, tx.now());
    if (n <= kOldDeliveries / 20) {
      end_session(tx, user, SessionId{n});
      replace_session_tokens(tx, SessionId{n});
    }
  }

  // In each store's hours, long ago and now.
  static void insert_activity(Tx& tx) {
    for (int n = 1; n <= kStores; ++n) {
      for (int quarter = 0; quarter < 200; ++quarter)
        count_activity(tx, {AccountId{n}, IntegrationId{n}, {}}, Activity::made, 1,
                       tx.now() - quarter * kQuarter);
    }
  }

  static void insert_store_activity(Tx& tx, IntegrationId store) {
    add_store_hours(tx, std::array{StoreHour{store, tx.now(), "accepted", 1, tx.now()}});
    note_store_orders(tx, std::array{StoreOrder{store, tx.now()}});
    note_store_topics(tx, std::array{StoreTopic{store, "orders/paid", tx.now()}});
    note_store_origins(tx, std::array{StoreOrigin{store, "https://x.example/", tx.now()}});
    put_products(tx, std::array{ProductRow{.integration = store, .key = "sku:b", .mapped = true}});
  }

  // The newest delivery, customer and row of webhook_sends of each account are work to do.
  void leave_work(Tx& tx) {
    static constexpr Sql customers{
        "UPDATE customers SET queue_state = 1 WHERE id IN (SELECT max(id) FROM customers GROUP BY "
        "cloud_account_id)"};
    static constexpr Sql deliveries{
        "UPDATE deliveries SET status = 'queued', open = 1, completed_at = NULL WHERE id IN"
        " (SELECT max(id) FROM deliveries GROUP BY account_id)"};
    static constexpr Sql dispatches{
        "UPDATE webhook_sends SET status = 'pending', attempts = 0 WHERE id IN"
        " (SELECT max(id) FROM webhook_sends GROUP BY subscription_id)"};
    static constexpr Sql newest{"SELECT max(id), max(customer_id) FROM deliveries WHERE account_id = $1"};
    tx.exec(customers);
    tx.exec(deliveries);
    tx.exec(dispatches);
    known_ = {.account = {1},
              .integration = {1},
              .cloud = {1},
              .subscription = {1},
              .customer = {},
              .delivery = {}};
    tx.query(newest, 1, [&](const Row& r) {
      known_.delivery = r.id<DeliveryId>(0);
      known_.customer = r.id<CustomerId>(1);
    });
    for (int n = 1; n <= kStores; ++n) refresh_readiness(tx, SubscriptionId{n});
  }

  // The faults of the plans of `query`, while there is no index `without`.
  std::vector<std::string> faults_of(const HotQuery& query, const std::string& without = {}) {
    std::vector<std::string> faults;
    try {
      db_->write([&](Tx& tx) {
        faults.clear();
        if (!without.empty()) tx.exec_script("DROP INDEX " + without + ";");
        ExplainingDriver explaining(tx, db_->engine() == "postgres");
        Tx explained(explaining, tx.now());
        query.run(explained);
        explained.conclude();
        for (const auto& read : explaining.whole_reads) faults.push_back("reads a whole table: " + read);
        for (const auto& index : query.indexes) {
          if (!explaining.used.contains(index)) faults.push_back("does not use " + index);
        }
        throw Undo{};
      });
    } catch (const Undo&) {
    }
    return faults;
  }

  testing::TemporaryDatabase db_{std::get<0>(GetParam()), testing::TemporaryPostgres::Kind::quick};
  Known known_;
};

TEST_P(QueryPlansTest, EachHotQueryFindsItsRowsByItsIndex) {
  for (const auto& query : hot_queries(known_)) {
    SCOPED_TRACE(query.name);
    EXPECT_THAT(faults_of(query), IsEmpty());
  }
}

TEST_P(QueryPlansTest, AHotQueryWithoutItsIndexIsNoticed) {
  for (const auto& query : hot_queries(known_)) {
    for (const auto& index : query.indexes) {
      SCOPED_TRACE(query.name + " without " + index);
      EXPECT_THAT(faults_of(query, index), Not(IsEmpty()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, QueryPlansTest,
                         ::testing::Combine(::testing::ValuesIn(testing::kEngines),
                                            ::testing::Values(Statistics::none, Statistics::fresh)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Engine::sqlite ? "Sqlite"
                                                                                        : "Postgres") +
                                  (std::get<1>(info.param) == Statistics::fresh ? "WithStatistics"
                                                                                : "WithoutStatistics");
                         });

}  // namespace
}  // namespace presetbridge::storage
