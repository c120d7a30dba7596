// The balance of an account, its ledger and its notice of few credits over their routes.
#include "api/handlers/credits_handlers.h"

#include "api/handlers/merchant_handlers_testing.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(MerchantApi, GrantedCreditsAreInTheBalanceAndTheLedger) {
  ASSERT_TRUE(world_.await(credits_.grant(world_.scheduler, account_, 7, "welcome")));
  ASSERT_TRUE(world_.await(credits_.grant(world_.scheduler, account_, 3, "more")));
  EXPECT_EQ(wakes_, 2);
  const auto balance = send(me_, "GET", "/api/credits");
  EXPECT_EQ(balance.body.at("available").as_int64(), 10);
  EXPECT_EQ(balance.body.at("debt").as_int64(), 0);
  const auto page = send(me_, "GET", "/api/credits/ledger?limit=1");
  EXPECT_EQ(page.body.at("data").at(0).at("note"), "more");
  const auto rest = send(me_, "GET", "/api/credits/ledger?limit=1&cursor=" + page.string("nextCursor"));
  EXPECT_EQ(rest.body.at("data").at(0).at("credits").as_int64(), 7);
  EXPECT_TRUE(rest.body.at("nextCursor").is_null());
  EXPECT_EQ(send(me_, "GET", "/api/credits/ledger?kind=spend").body.at("data").as_array().size(), 0U);
  EXPECT_EQ(send(me_, "GET", "/api/credits/ledger?kind=other").code(), "VALIDATION_FAILED");
  EXPECT_EQ(world_.await(credits_.grant(world_.scheduler, account_, 0, "")).error().code,
            "VALIDATION_FAILED");
  EXPECT_EQ(world_.await(credits_.grant(world_.scheduler, AccountId{9}, 1, "")).error().code, "NOT_FOUND");
}

TEST_F(MerchantApi, AnAccountSetsWhenItIsNotifiedOfFewCredits) {
  EXPECT_EQ(send(me_, "GET", "/api/credits").body.at("lowThreshold"), 10);
  EXPECT_EQ(send(me_, "PATCH", "/api/credits", json::object{{"lowThreshold", 3}}).body.at("lowThreshold"), 3);
  EXPECT_EQ(send(me_, "GET", "/api/credits").body.at("lowThreshold"), 3);
  EXPECT_EQ(
      send(me_, "PATCH", "/api/credits", json::object{{"lowThreshold", nullptr}}).body.at("lowThreshold"),
      10);
  for (const auto& bad :
       {json::object{}, json::object{{"lowThreshold", -1}}, json::object{{"lowThreshold", "3"}}})
    EXPECT_EQ(send(me_, "PATCH", "/api/credits", bad).code(), "VALIDATION_FAILED");
}

}  // namespace
}  // namespace presetbridge::api::testing
