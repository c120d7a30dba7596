#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <array>

#include "base/id_time.h"
#include "domain/order.h"
#include "storage/stores/account_store.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"
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
                                          .outcome = domain::OrderOutcome::delivery,
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
  std::vector<std::int64_t> list(DeliveryFilter filter) {
    filter.account = kAccount;
    std::vector<std::int64_t> ids;
    pages_ = 0;
    for (std::optional<std::int64_t> next = filter.page.before; next; ++pages_) {
      filter.page.before = *next;
      db_->read([&](Tx& tx) {
        const auto page = list_deliveries(tx, filter);
        EXPECT_LE(page.rows.size(), static_cast<std::size_t>(filter.page.limit));
        for (const auto& row : page.rows) ids.push_back(row.id.value);
        next = page.next;
      });
    }
    return ids;
  }

  static constexpr Millis kHour = std::chrono::hours{1};
  static Timestamp at(int hours) { return from_unix_ms(1'767'225'600'000) + hours * kHour; }
  static std::int64_t nth(int hours) { return first_id_at(at(hours)); }

  testing::MigratedDatabase db_{testing::Engine::sqlite};
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
  EXPECT_THAT(list({.statuses = {DeliveryStatus::queued}, .order_key = "B"}), IsEmpty());
  EXPECT_THAT(list({.statuses = {DeliveryStatus::queued}}), ElementsAre(3, 1));
  EXPECT_THAT(list({.statuses = {DeliveryStatus::failed}}), ElementsAre(6, 5, 2));
  EXPECT_THAT(list({.statuses = {DeliveryStatus::failed, DeliveryStatus::queued}}),
              ElementsAre(6, 5, 3, 2, 1));
  EXPECT_THAT(list({.codes = {ResolutionCode::insufficient_credits}}), ElementsAre(6, 2));
  EXPECT_THAT(list({.codes = {ResolutionCode::insufficient_credits, ResolutionCode::username_missing}}),
              ElementsAre(6, 5, 2));
  EXPECT_THAT(list({.integrations = {{IntegrationId{11}}}}), ElementsAre(5, 3));
  EXPECT_THAT(list({.integrations = {{IntegrationId{10}}}}), ElementsAre(6, 2, 1));
  EXPECT_THAT(list({.integrations = {{IntegrationId{12}}}}), IsEmpty()) << "another account's";
  EXPECT_THAT(list({.oldest_first = true}), ElementsAre(1, 2, 3, 5, 6));
  EXPECT_THAT(list({.statuses = {DeliveryStatus::failed}, .oldest_first = true}), ElementsAre(2, 5, 6));
}

TEST_F(DeliveryListTest, ASearchFindsTheBeginningOfWhatPeopleKnowWhateverItsCase) {
  db_->write([&](Tx& tx) {
    for (const std::int64_t id : {1, 2, 3}) add(tx, id, id == 1 ? "Ab-1" : "x" + std::to_string(id));
    add(tx, 4, "Ab-1", 12);
    insert_delivery_keys(
        tx, std::array{DeliveryKeys{kAccount, {1}, "Ab-1", "#1001", "Jonas", "Jonas@Example.com", {"f1"}},
                       DeliveryKeys{kAccount, {2}, "x2", "#1002", "jonasek", "ann@example.com", {"f1", "f2"}},
                       DeliveryKeys{kAccount, {3}, "x3", "", "", "", {}},
                       DeliveryKeys{kOther, {4}, "Ab-1", "#1001", "jonas", "jonas@example.com", {"f1"}}});
  });
  EXPECT_THAT(list({.search = "JONAS"}), ElementsAre(2, 1));
  EXPECT_THAT(list({.search = "jonas@"}), ElementsAre(1));
  EXPECT_THAT(list({.search = "1001"}), ElementsAre(1));
  EXPECT_THAT(list({.search = "#100"}), ElementsAre(2, 1));
  EXPECT_THAT(list({.search = "ab-"}), ElementsAre(1));
  EXPECT_THAT(list({.search = "X"}), ElementsAre(3, 2));
  EXPECT_THAT(list({.search = "onas"}), IsEmpty());
  for (const auto* nothing : {"&nbsp;", "&#32;&#160;", "#&nbsp;", "\u00a0"})
    EXPECT_THAT(list({.search = nothing}), IsEmpty()) << nothing;
  EXPECT_THAT(list({.file_id = "f1"}), ElementsAre(2, 1));
  EXPECT_THAT(list({.file_id = "f2"}), ElementsAre(2));
  EXPECT_THAT(list({.search = "jonas", .oldest_first = true, .page = {.limit = 1}}), ElementsAre(1, 2));

  db_->write([&](Tx& tx) {
    replace_delivery_key(tx, kAccount, {2}, KeyOf::username, "jonasek", "kim");
    delete_delivery_keys(tx, std::array{NameOfDelivery{kAccount, {1}, KeyOf::email, "jonas@example.com"}});
  });
  EXPECT_THAT(list({.search = "jonas"}), ElementsAre(1));
  EXPECT_THAT(list({.search = "kim"}), ElementsAre(2));
  EXPECT_THAT(list({.search = "jonas@"}), IsEmpty());
}

TEST_F(DeliveryListTest, WhatAProgramOfBeforeWroteIsFoundOnceItsKeysAreFilledIn) {
  db_.clock.advance(std::chrono::hours{1});
  const auto id = first_id_at(db_.clock.now() - std::chrono::hours{1});
  db_->write([&](Tx& tx) {
    add(tx, id, "K1");
    tx.exec({"UPDATE deliveries SET target_username = 'Kim', customer_email = 'kim@example.com'"});
    tx.exec({"UPDATE orders SET order_number = '#77'"});
  });
  EXPECT_THAT(list({.search = "kim"}), IsEmpty());
  db_->write([](Tx& tx) {
    EXPECT_EQ(fill_delivery_keys(tx, 10), 1);
    EXPECT_EQ(fill_delivery_keys(tx, 10), 0);
  });
  EXPECT_THAT(list({.search = "kim"}), ElementsAre(id));
  EXPECT_THAT(list({.search = "77"}), ElementsAre(id));
}

TEST_F(DeliveryListTest, FiltersGoTogetherAndACountSaysWhetherItIsExact) {
  db_->write([&](Tx& tx) {
    for (int n = 1; n <= 20; ++n) {
      add(tx, nth(n), std::to_string(n));
      tx.exec({"UPDATE deliveries SET created_at = $2, updated_at = $3 WHERE id = $1"}, nth(n), at(n),
              at(2 * n));
    }
    tx.exec({"UPDATE deliveries SET refunded = 1 WHERE order_key = '3' OR order_key = '7'"});
    tx.exec({"UPDATE deliveries SET dry_run = 1 WHERE order_key = '7' OR order_key = '8'"});
  });
  const auto numbers = [&](DeliveryFilter filter) {
    std::vector<int> all;
    for (const auto id : list(std::move(filter)))
      all.push_back(static_cast<int>((made_at(id) - at(0)) / kHour));
    return all;
  };
  EXPECT_THAT(numbers({.refunded = true}), ElementsAre(7, 3));
  EXPECT_THAT(numbers({.dry_run = true, .refunded = true}), ElementsAre(7));
  EXPECT_THAT(numbers({.dry_run = true, .refunded = false}), ElementsAre(8));
  EXPECT_THAT(numbers({.created_from = at(18), .page = {.limit = 2}}), ElementsAre(20, 19, 18));
  EXPECT_THAT(numbers({.created_from = at(4), .created_to = at(6)}), ElementsAre(5, 4));
  EXPECT_THAT(numbers({.updated_from = at(38), .updated_to = at(40)}), ElementsAre(19));
  EXPECT_THAT(numbers({.created_from = at(4), .created_to = at(7), .oldest_first = true}),
              ElementsAre(4, 5, 6));
  const auto count = [&](DeliveryFilter filter) {
    filter.account = kAccount;
    DeliveryCount counted;
    db_->read([&](Tx& tx) { counted = count_deliveries(tx, filter); });
    return std::pair(counted.count, counted.exact);
  };
  EXPECT_EQ(count({}), std::pair(std::int64_t{20}, true));
  EXPECT_EQ(count({.statuses = {DeliveryStatus::queued}, .refunded = false}),
            std::pair(std::int64_t{18}, true));
  EXPECT_EQ(count({.integrations = {{IntegrationId{10}, IntegrationId{11}}}, .page = {.before = 5}}),
            std::pair(std::int64_t{20}, true));
}

TEST_F(DeliveryListTest, ASearchThatFindsVeryMuchShowsTheNewestAndIsCountedToItsLimit) {
  constexpr int kMany = kDeliveryScanLimit + 500;
  db_->write([&](Tx& tx) {
    std::vector<DeliveryKeys> keys;
    for (int id = 1; id <= kMany; ++id) {
      add(tx, id, "K" + std::to_string(id));
      keys.push_back({kAccount, {id}, "K", "", "same", "", {}});
    }
    insert_delivery_keys(tx, keys);
    tx.exec({"UPDATE deliveries SET target_username = 'Same'"});
  });
  DeliveryFilter filter{.account = kAccount, .search = "sam", .page = {.limit = 3}};
  db_->read([&](Tx& tx) {
    const auto page = list_deliveries(tx, filter);
    ASSERT_EQ(page.rows.size(), 3U);
    EXPECT_EQ(page.rows.front().id.value, kMany);
    const auto counted = count_deliveries(tx, filter);
    EXPECT_GE(counted.count, 2'000);
    EXPECT_FALSE(counted.exact);
  });
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
  EXPECT_THAT(list({.statuses = {DeliveryStatus::queued}, .page = {.limit = 2}}), ElementsAre(7, 5, 3, 1));
  EXPECT_EQ(pages_, 2);
  EXPECT_THAT(list({.codes = {ResolutionCode::username_missing}, .page = {.limit = 3}}),
              ElementsAre(6, 4, 2));
  EXPECT_EQ(pages_, 1);
}

TEST_F(DeliveryListTest, WhatNoIndexFindsIsReachedThroughPagesThatAreEmpty) {
  db_->write([&](Tx& tx) {
    for (int id = 1; id <= 25'000; ++id) add(tx, id, "K" + std::to_string(id));
    tx.exec({"UPDATE deliveries SET updated_at = $1"}, at(1));
    tx.exec({"UPDATE deliveries SET updated_at = $1 WHERE id = 2"}, at(2));
  });
  EXPECT_THAT(list({.updated_from = at(2)}), ElementsAre(2));
  EXPECT_EQ(pages_, 3);
}

// A list shows the number for each of its rows, and decodes no state for that.
TEST_F(DeliveryListTest, AnOrderNumberIsReadFromItsColumnAndOfRowsOfBeforeFromTheState) {
  domain::OrderState state;
  state.order_number = "#1002";
  db_->write([&](Tx& tx) {
    for (const auto& [id, key] : {std::pair(1, "a"), std::pair(2, "b"), std::pair(3, "c")}) {
      insert_orders(tx, std::array{OrderRow{.id = OrderId{id},
                                            .account = kAccount,
                                            .integration = IntegrationId{10},
                                            .order_key = key,
                                            .outcome = domain::OrderOutcome::delivery,
                                            .state = id == 2 ? encode(state) : "not to be read",
                                            .summary = {.number = id == 1 ? "#1001" : ""}}});
    }
    tx.exec({"UPDATE orders SET order_number = NULL WHERE id = 2"});
  });
  const std::array ids{OrderId{3}, OrderId{1}, OrderId{9}, OrderId{2}};
  std::vector<std::string> numbers;
  db_->read([&](Tx& tx) {
    for (auto& name : find_order_names(tx, ids)) numbers.push_back(name.number);
  });
  EXPECT_THAT(numbers, ElementsAre("", "#1001", "", "#1002"));
}

TEST_F(DeliveryListTest, ATimelineShowsItsNewestEntriesFirst) {
  db_->write([](Tx& tx) {
    std::vector<TimelineRow> rows;
    for (int n = 1; n <= 5; ++n)
      rows.push_back({DeliveryId{1},
                      {.id = n,
                       .at = tx.now(),
                       .type = domain::TimelineType::note,
                       .kind = domain::TimelineKind::action,
                       .actor = "system",
                       .status = "queued",
                       .resolution = "",
                       .message = std::to_string(n)}});
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
