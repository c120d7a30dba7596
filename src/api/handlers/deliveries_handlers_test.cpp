// Deliveries and the actions on them over their routes.
#include "api/handlers/deliveries_handlers.h"

#include "api/handlers/merchant_handlers_testing.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(MerchantApi, ADeliveryIsShownListedAndActedOn) {
  const auto integration = integration_id(add_integration());
  const auto id = add_failed(integration, domain::ResolutionCode::username_not_found);
  const auto path = "/api/deliveries/" + to_string(id);
  const auto shown = send(me_, "GET", path);
  ASSERT_EQ(shown.status, 200) << shown.text;
  EXPECT_EQ(shown.string("resolutionCode"), "username_not_found");
  EXPECT_TRUE(shown.body.at("orderNumber").is_null()) << "its order tells none";
  EXPECT_EQ(shown.body.at("items").at(0).at("fileId"), "f1");
  EXPECT_FALSE(shown.body.at("timeline").as_array().empty());
  EXPECT_EQ(send(me_, "GET", "/api/deliveries?status=failed&orderId=1001").body.at("data").as_array().size(),
            1U);
  EXPECT_EQ(
      send(me_, "GET", "/api/deliveries?resolutionCode=cloud_rejected").body.at("data").as_array().size(),
      0U);
  std::string fifty_one = to_string(integration);
  for (int i = 0; i < 50; ++i) fifty_one += "," + to_string(integration);
  for (const auto& query :
       {std::string("status=lost"), std::string("status="), std::string("status=failed,"),
        std::string("resolutionCode="), std::string("integrationId="), "integrationId=" + fifty_one,
        std::string("orderId="), std::string("q="), "q=" + std::string(101, 'x'), std::string("fileId="),
        std::string("createdFrom="), std::string("updatedTo=2026-01-02T03:04:05"), std::string("dryRun="),
        std::string("sort=")}) {
    EXPECT_EQ(send(me_, "GET", "/api/deliveries?" + query).code(), "VALIDATION_FAILED") << query;
  }
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += "漢";
  const auto counted = send(me_, "GET", "/api/deliveries?q=" + hundred);
  EXPECT_EQ(counted.status, 200) << counted.text;
  EXPECT_EQ(send(me_, "POST", path + "/retry", json::object{{"targetUsername", " @ "}}).code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "POST", path + "/invalidate", json::object{{"reason", " "}}).code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "POST", path + "/approve").code(), "INVALID_TRANSITION");
  EXPECT_EQ(send(me_, "POST", path + "/revoke").code(), "INVALID_TRANSITION");
  for (const auto& wrong :
       {json::object{{"itemIds", {"itm_1"}}}, json::object{{"username", "nobody"}},
        json::object{{"itemIds", {shown.body.at("items").at(0).at("id")}}, {"username", "a"}},
        json::object{{"itemIds", "all"}}}) {
    EXPECT_EQ(send(me_, "POST", path + "/revoke", wrong).code(), "VALIDATION_FAILED")
        << json::serialize(wrong);
  }
  // No login is stored, so a new attempt fails for that, under the new name.
  const auto retried = send(me_, "POST", path + "/retry", json::object{{"targetUsername", "@Right.Name"}});
  EXPECT_EQ(retried.status, 200) << retried.text;
  EXPECT_EQ(retried.string("targetUsername"), "Right.Name");
  EXPECT_EQ(retried.string("resolutionCode"), "credentials_missing");
  const auto reopened = send(me_, "POST", path + "/reopen");
  EXPECT_EQ(reopened.string("status"), "in_review");
  EXPECT_EQ(reopened.string("reviewReason"), "reopened");
  EXPECT_EQ(send(me_, "POST", path + "/complete").string("status"), "completed");
  EXPECT_EQ(send(me_, "POST", path + "/invalidate", json::object{{"reason", "fraud"}}).string("reason"),
            "fraud");
  for (const auto& who : {stranger_, key({IntegrationId{5}})}) {
    EXPECT_EQ(send(who, "GET", path).code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "POST", path + "/retry").code(), "NOT_FOUND");
    EXPECT_EQ(send(who, "GET", "/api/deliveries").body.at("data").as_array().size(), 0U);
  }
}

}  // namespace
}  // namespace presetbridge::api::testing
