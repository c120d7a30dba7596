// The other members in the answer of a PATCH, and texts to search by.
#include <set>
#include "api/merchant_api_testing.h"

#include "api/handlers/orders_handlers.h"

namespace presetbridge::api::testing {
namespace {

class Patches : public MerchantApiTest {
 protected:
  Patches() { add_orders_routes(router_, {orders_, bulk_, std::chrono::days{30}}); }

  using Problems = std::map<std::string, std::string>;
  static Problems problems_of(const Answer& answer) {
    Problems problems;
    if (answer.status != 422) return problems;
    for (const auto& detail : answer.body.at("error").at("details").as_array())
      problems[std::string(detail.at("field").as_string())] = detail.at("problem").as_string();
    return problems;
  }
  // Every member that is shown, with another value, is changed, refused or documented as ignored.
  void expect_no_silence(const std::string& path, const std::set<std::string>& settable,
                         const std::set<std::string>& moving) {
    const auto shown = send(me_, "GET", path).body.as_object();
    EXPECT_EQ(send(me_, "PATCH", path, shown).status, 200) << "as it is";
    for (const auto& member : shown) {
      const std::string name = member.key();
      if (settable.contains(name)) continue;
      const auto answer = send(me_, "PATCH", path, json::object{{name, "bogus"}});
      if (moving.contains(name)) {
        EXPECT_EQ(answer.status, 200) << name;
      } else {
        ASSERT_EQ(problems_of(answer).count(name), 1U) << name << ' ' << answer.text;
        EXPECT_TRUE(problems_of(answer)[name].starts_with("cannot be changed")) << answer.text;
      }
    }
  }

  services::Orders orders_{world_.async_db, changes_, directory_, [this] { ++wakes_; }};
  services::BulkJobs jobs_{world_.async_db, world_.ids, [this] { ++wakes_; }};
  services::BulkReprocess bulk_{world_.async_db, changes_, directory_, jobs_};
};

TEST_F(Patches, AStoresMembersThatCannotBeChangedAreRefused) {
  const auto path = "/api/integrations/" + add_integration().string("id");
  expect_no_silence(path, {"name", "active", "owningKeyId", "settings"},
                    {"mappingCount", "lastOrderAt", "topicsSeen", "counts", "intake"});
  const auto refused = send(me_, "PATCH", path, json::object{{"webhookUrl", "https://evil.example/"}});
  EXPECT_EQ(problems_of(refused), (Problems{{"webhookUrl", "cannot be changed"}}));
}

TEST_F(Patches, ASubscriptionsMembersThatCannotBeChangedAreRefused) {
  const auto made =
      send(me_, "POST", "/api/webhook-subscriptions", json::object{{"url", "https://shop.example/hook"}});
  expect_no_silence(
      "/api/webhook-subscriptions/" + made.string("id"),
      {"name", "url", "eventTypes", "integrationIds", "active"},
      {"health", "failingSince", "failuresInARow", "lastAttemptAt", "lastStatusCode", "lastOutcome",
       "lastSuccessAt", "recent", "p50Ms", "waitingCount", "waitingCountIsExact"});
}

TEST_F(Patches, WhatCannotBeSetIsNotNamedAsMeant) {
  const auto path = "/api/integrations/" + add_integration().string("id");
  EXPECT_EQ(
      problems_of(send(me_, "PATCH", path, json::object{{"webhookUri", "x"}, {"sekret", "y"}})),
      (Problems{
          {"webhookUri", "is not a field of this request; it takes name, active, settings, owningKeyId"},
          {"sekret", "is not a field of this request; it takes name, active, settings, owningKeyId"}}));
}

TEST_F(Patches, ASearchForNothingIsRefusedAndAListAndItsJobReadItAlike) {
  const auto blank = {"%20", "%C2%A0", "%20%C2%A0%E2%80%8B", "@", "%20@%C2%A0"};
  for (const std::string path : {"/api/orders", "/api/deliveries"}) {
    for (const std::string q : blank) {
      const auto refused = send(me_, "GET", path + "?q=" + *percent_decode(q));
      EXPECT_EQ(problems_of(refused), (Problems{{"q", "must have something to search for"}}))
          << path << ' ' << q;
    }
    EXPECT_EQ(send(me_, "GET", path + "?q=" + *percent_decode("%C2%A0@jonas%C2%A0")).status, 200);
  }
  for (const std::string q : blank) {
    const auto refused =
        send(me_, "POST", "/api/orders/reprocess", json::object{{"q", *percent_decode(q)}, {"dryRun", true}});
    EXPECT_EQ(problems_of(refused), (Problems{{"q", "must have something to search for"}})) << q;
  }
}

TEST_F(Patches, OfManyProblemsTheFirstHundredAreReported) {
  json::array mappings;
  for (int i = 0; i < 1'000; ++i) mappings.emplace_back(json::object());
  const auto refused = send(me_, "PUT", "/api/integrations/" + add_integration().string("id") + "/mappings",
                            json::object{{"mappings", mappings}});
  ASSERT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body.at("error").at("details").as_array().size(), 100U);
  EXPECT_EQ(refused.body.at("error").at("details").at(0).at("field"), "mappings[0].matchType");
}

}  // namespace
}  // namespace presetbridge::api::testing
