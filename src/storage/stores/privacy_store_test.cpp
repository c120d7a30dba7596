#include "storage/stores/privacy_store.h"

#include <gtest/gtest.h>

#include "storage/stores/overview_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

constexpr AccountId kAccount{7};
constexpr IntegrationId kStore{1};

std::vector<std::byte> key(int n) {
  return {std::byte(n), std::byte{0}};
}

class PrivacyStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  template <class Fn>
  auto write(Fn fn) {
    std::optional<std::invoke_result_t<Fn&, Tx&>> result;
    db_->write([&](Tx& tx) { result.emplace(fn(tx)); });
    return std::move(*result);
  }
  PrivacyRequestRow add(std::int64_t id, PrivacyKind kind, int key_number) {
    return write([&](Tx& tx) {
      return add_privacy_request(tx,
                                 {.id = PrivacyRequestId{id},
                                  .account = kAccount,
                                  .integration = kStore,
                                  .kind = kind,
                                  .received_at = tx.now(),
                                  .orders = 3},
                                 key(key_number));
    });
  }

  testing::MigratedDatabase db_{GetParam()};
};

TEST_P(PrivacyStoreTest, TheSameRequestSentAgainIsOne) {
  EXPECT_EQ(add(1, PrivacyKind::customer_redact, 1).id, PrivacyRequestId{1});
  db_->write([](Tx& tx) { end_privacy_request(tx, PrivacyRequestId{1}); });
  const auto again = add(2, PrivacyKind::customer_redact, 1);
  EXPECT_EQ(again.id, PrivacyRequestId{1});
  EXPECT_TRUE(again.carried_out_at);
  EXPECT_EQ(add(3, PrivacyKind::customer_redact, 2).id, PrivacyRequestId{3});
}

TEST_P(PrivacyStoreTest, TheOldestToAnswerAsksForTheDataOfABuyer) {
  const auto open = [&] {
    return write([](Tx& tx) { return count_open_privacy_requests(tx, kAccount, kStore); });
  };
  add(1, PrivacyKind::customer_redact, 1);
  EXPECT_EQ(open().count, 1);
  EXPECT_EQ(open().oldest, std::nullopt);
  const auto asked = add(2, PrivacyKind::data_request, 2);
  EXPECT_EQ(open().count, 2);
  EXPECT_EQ(open().oldest, asked.received_at);
}

TEST_P(PrivacyStoreTest, AsManyOrdersAreKeptAsThereIsRoomForAndOnce) {
  add(1, PrivacyKind::data_request, 1);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < kMostOrdersNamed + 1; ++i) keys.push_back("order " + std::to_string(1'000 + i));
  for (int again = 0; again < 2; ++again)
    write([&](Tx& tx) { return add_orders_named(tx, PrivacyRequestId{1}, keys), 0; });
  std::vector<std::string> listed;
  PageRequest page{.limit = 100};
  for (std::optional<std::int64_t> next = page.before; next;) {
    page.before = *next;
    const auto found = write([&](Tx& tx) {
      return list_orders_named(tx, {.id = PrivacyRequestId{1}, .integration = IntegrationId{3}}, page);
    });
    EXPECT_LE(found.rows.size(), 100U);
    for (const auto& one : found.rows) {
      EXPECT_FALSE(one.order) << "no such order came";
      listed.push_back(one.order_key);
    }
    next = found.next;
  }
  keys.pop_back();
  EXPECT_EQ(listed, keys);
}

TEST_P(PrivacyStoreTest, TheMerchantSeesAndClosesThem) {
  for (int n = 1; n <= 3; ++n) add(n, PrivacyKind::data_request, n);
  const auto page =
      write([](Tx& tx) { return list_privacy_requests(tx, kAccount, PageRequest{.limit = 2}); });
  ASSERT_EQ(page.rows.size(), 2U);
  EXPECT_EQ(page.rows[0].id, PrivacyRequestId{3});
  EXPECT_EQ(page.rows[0].orders, 3);
  EXPECT_EQ(page.next, 2);
  const auto close = [&](AccountId account) {
    return write([&](Tx& tx) { return close_privacy_request(tx, account, PrivacyRequestId{2}, "usr_1"); });
  };
  EXPECT_FALSE(close(AccountId{8})) << "another account's";
  EXPECT_TRUE(close(kAccount));
  EXPECT_FALSE(close(kAccount)) << "closed already";
  const auto rest =
      write([](Tx& tx) { return list_privacy_requests(tx, kAccount, {.limit = 9, .before = 3}); });
  ASSERT_EQ(rest.rows.size(), 2U);
  EXPECT_EQ(rest.rows[0].closed_by, "usr_1");
  EXPECT_TRUE(rest.rows[0].closed_at);
  EXPECT_FALSE(rest.rows[1].closed_at);
  EXPECT_TRUE(
      write([](Tx& tx) { return list_privacy_requests(tx, AccountId{8}, PageRequest{}); }).rows.empty());
}

TEST_P(PrivacyStoreTest, AShopIsTakenUpWhereItsErasureWas) {
  add(1, PrivacyKind::data_request, 1);
  add(2, PrivacyKind::shop_redact, 2);
  auto shop = write([](Tx& tx) { return lock_shop_redaction(tx, {}); });
  ASSERT_TRUE(shop);
  EXPECT_EQ(shop->id, PrivacyRequestId{2});
  shop->done_to = "order 7";
  shop->orders = 7;
  db_->write([&](Tx& tx) { advance_shop_redaction(tx, *shop); });
  shop = write([](Tx& tx) { return lock_shop_redaction(tx, {}); });
  EXPECT_EQ(shop->done_to, "order 7");
  EXPECT_EQ(shop->orders, 7);
  db_->write([](Tx& tx) { end_privacy_request(tx, PrivacyRequestId{2}); });
  EXPECT_FALSE(write([](Tx& tx) { return lock_shop_redaction(tx, {}); }));
}

INSTANTIATE_TEST_SUITE_P(Engines, PrivacyStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
