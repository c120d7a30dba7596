// Rows of customers that older programs write too (docs/development.md, Migrations).
#include "storage/stores/customer_store.h"

#include <gtest/gtest.h>

#include "storage/stores/cloud_account_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

class CustomerStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  CustomerStoreTest() {
    db_->write([&](Tx& tx) {
      const auto account = find_or_insert_cloud_account(tx, "m-1", "merchant", CloudAccountId{1});
      const Buyer ann{account, "ann", CustomerId{2}};
      customer_ = enqueue_buyers(tx, std::span(&ann, 1), tx.now()).front();
    });
  }
  domain::FailingCalls failing(std::string_view call, std::string_view since) {
    domain::FailingCalls found;
    db_->write([&](Tx& tx) {
      tx.exec_script("UPDATE customers SET failures = 3, failing_since = " + std::string(since) +
                     ", failing_call = '" + std::string(call) + "';");
      found = lock_customer(tx, customer_)->failing;
    });
    return found;
  }
  testing::MigratedDatabase db_{GetParam()};
  CustomerId customer_;
};

// An older program writes one of the two columns: the row must not close the merchant's queue.
TEST_P(CustomerStoreTest, WhatAProgramOfBeforeWroteOverInPartIsNoFailure) {
  EXPECT_EQ(failing("share", "5000").size(), 1U);
  EXPECT_TRUE(failing("share", "NULL").empty());
  EXPECT_TRUE(failing("share 2 5000 7;revoke 1 6000 8", "5000").empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, CustomerStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
