#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <array>

#include "domain/order.h"
#include "storage/account_store.h"
#include "storage/delivery_store.h"
#include "storage/integration_store.h"
#include "storage/migrations.h"
#include "storage/order_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using domain::ResolutionCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AccountId kAccount{1};
constexpr AccountId kOther{2};

class DeliveryListTest : public ::testing::Test {
 protected:
  DeliveryListTest() {
    if (!migrate(*db_)) throw std::runtime_error("the schema could not be made");
    db_->write([](Tx& tx) {
      insert_account(tx, kAccount, "a merchant");
      insert_account(tx, kOther, "another");
      for (const std::int64_t id : {10, 11, 12}) {
        IntegrationRow row{.id = IntegrationId{id}, .account = id == 12 ? kOther : kAccount, .name = "Store"};
        row.encrypted_secret = std::vector<std::byte>(3);
        insert_integration(tx, row);
      }
    });
  }

  void add(Tx& tx, std::int64_t id, const std::string& key, std::int64_t integration = 10,
           ResolutionCode failed_for = ResolutionCode::none) {
    const AccountId account = integration == 12 ? kOther : kAccount;
    insert_orders(tx, std::array{OrderRow{.id = OrderId{id},
                                          .account = account,
                                          .integration = IntegrationId{integration},
                                          .order_key = key,
                                          .outcome = "delivery",
                                          .state = "{}"}});
    DeliveryRow row{.id = DeliveryId{id}, .account = account, .integration = IntegrationId{integration}};
    row.order_key = key;
    if (failed_for != ResolutionCode::none) {
      row.status = DeliveryStatus::failed;
      row.resolution = failed_for;
    }
    insert_deliveries(tx, std::span(&row, 1));
  }

  // The ids of all pages, and how many pages there were.
  std::vector<std::int64_t> list(DeliveryFilter filter, std::int64_t hidden_integration = 0) {
    filter.account = kAccount;
    std::vector<std::int64_t> ids;
    pages_ = 0;
    for (std::optional<std::int64_t> next = filter.page.before; next; ++pages_) {
      filter.page.before = *next;
      db_->read([&](Tx& tx) {
        const auto page = list_deliveries(
            tx, filter, [&](const DeliveryRow& row) { return row.integration.value != hidden_integration; });
        EXPECT_LE(page.rows.size(), static_cast<std::size_t>(filter.page.limit));
        for (const auto& row : page.rows) ids.push_back(row.id.value);
        next = page.next;
      });
    }
    return ids;
  }

  testing::TemporarySqlite db_;
  int pages_ = 0;
};

TEST_F(DeliveryListTest, EachFilterFindsItsOwnNewestFirstAndNobodyElses) {
  db_->write([&](Tx& tx) {
    add(tx, 1, "A");
    add(tx, 2, "B", 10, ResolutionCode::insufficient_credits);
    add(tx, 3, "A", 11);
    add(tx, 4, "A", 12);
    add(tx, 5, "C", 11, ResolutionCode::username_missing);
    add(tx, 6, "D", 10, ResolutionCode::insufficient_credits);
  });
  EXPECT_THAT(list({}), ElementsAre(6, 5, 3, 2, 1));
  EXPECT_THAT(list({.order_key = "A"}), ElementsAre(3, 1));
  EXPECT_THAT(list({.status = "queued", .order_key = "B"}), IsEmpty());
  EXPECT_THAT(list({.status = "queued"}), ElementsAre(3, 1));
  EXPECT_THAT(list({.status = "failed"}), ElementsAre(6, 5, 2));
  EXPECT_THAT(list({.status = "failed", .resolution = "insufficient_credits"}), ElementsAre(6, 2));
  EXPECT_THAT(list({.resolution = "username_missing"}), ElementsAre(5));
  EXPECT_THAT(list({.integration = IntegrationId{11}}), ElementsAre(5, 3));
  EXPECT_THAT(list({}, 11), ElementsAre(6, 2, 1)) << "what the key may not see";
}

TEST_F(DeliveryListTest, PagesHoldTheirLimitAndTogetherEverythingOnce) {
  db_->write([&](Tx& tx) {
    for (int id = 1; id <= 7; ++id) {
      add(tx, id, "K" + std::to_string(id), 10,
          id % 2 == 0 ? ResolutionCode::username_missing : ResolutionCode::none);
    }
  });
  EXPECT_THAT(list({.page = {.limit = 3}}), ElementsAre(7, 6, 5, 4, 3, 2, 1));
  EXPECT_EQ(pages_, 3);
  EXPECT_THAT(list({.status = "queued", .page = {.limit = 2}}), ElementsAre(7, 5, 3, 1));
  EXPECT_EQ(pages_, 2);
  EXPECT_THAT(list({.status = "failed", .resolution = "username_missing", .page = {.limit = 3}}),
              ElementsAre(6, 4, 2));
  EXPECT_EQ(pages_, 1);
}

TEST_F(DeliveryListTest, ARareFindIsReachedThroughPagesThatAreEmpty) {
  db_->write([&](Tx& tx) {
    add(tx, 1, "rare", 11);
    for (int id = 2; id <= 12'000; ++id) add(tx, id, "K" + std::to_string(id));
  });
  EXPECT_THAT(list({.integration = IntegrationId{11}}), ElementsAre(1));
  EXPECT_GE(pages_, 2);
  EXPECT_LE(pages_, 4);
}

// Which a list shows for each of its rows: no state is decoded for that.
TEST_F(DeliveryListTest, AnOrderNumberIsReadFromItsColumnAndOfRowsOfBeforeFromTheState) {
  domain::OrderState state;
  state.order_number = "#1002";
  db_->write([&](Tx& tx) {
    for (const auto& [id, key] : {std::pair(1, "a"), std::pair(2, "b"), std::pair(3, "c")}) {
      insert_orders(tx, std::array{OrderRow{.id = OrderId{id},
                                            .account = kAccount,
                                            .integration = IntegrationId{10},
                                            .order_key = key,
                                            .outcome = "delivery",
                                            .state = id == 2 ? encode(state) : "not to be read",
                                            .summary = {.number = id == 1 ? "#1001" : ""}}});
    }
    tx.exec({"UPDATE orders SET order_number = NULL WHERE id = 2"});
  });
  const std::array ids{OrderId{3}, OrderId{1}, OrderId{9}, OrderId{2}};
  std::vector<std::string> numbers;
  db_->read([&](Tx& tx) { numbers = find_order_numbers(tx, ids); });
  EXPECT_THAT(numbers, ElementsAre("", "#1001", "", "#1002"));
}

TEST_F(DeliveryListTest, ATimelineShowsItsNewestEntriesFirst) {
  db_->write([](Tx& tx) {
    std::vector<TimelineRow> rows;
    for (int n = 1; n <= 5; ++n)
      rows.push_back({DeliveryId{1}, n, {tx.now(), "action", "system", "queued", "", std::to_string(n)}});
    append_timeline(tx, rows);
  });
  const auto messages = [&](int limit, std::int64_t before) {
    std::string text;
    db_->read([&](Tx& tx) {
      text.clear();
      for (const auto& entry : find_timeline(tx, DeliveryId{1}, limit, before)) text += entry.message;
    });
    return text;
  };
  EXPECT_EQ(messages(3, 100), "543");
  EXPECT_EQ(messages(3, 3), "21");
}

}  // namespace
}  // namespace presetbridge::storage
