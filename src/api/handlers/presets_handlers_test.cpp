// The list of presets that a login or a session opens.
#include "api/handlers/credentials_handlers_testing.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(CredentialsApi, ASessionOpensPresetsToItsOwnKeyForAnHour) {
  const auto by = key();
  const auto opened = cloud_login(by, "m@example.com", agent_.password);
  ASSERT_EQ(opened.status, 200) << opened.text;
  EXPECT_EQ(opened.body.at("user").at("username"), "merchant");
  const std::string token(opened.body.at("session").at("token").as_string());
  const auto list = [&](const identity::Principal& who) {
    return send(who, "GET", "/api/presets", {}, {{"X-Session-Token", token}});
  };
  EXPECT_EQ(list(by).status, 200);
  EXPECT_EQ(list(key()).code(), "UNAUTHORIZED");
  EXPECT_EQ(list(me_).code(), "UNAUTHORIZED");
  EXPECT_EQ(send(by, "GET", "/api/presets", {}, {{"X-Session-Token", token + "x"}}).code(), "UNAUTHORIZED");
  EXPECT_EQ(send(by, "GET", "/api/presets").code(), "CREDENTIALS_MISSING");
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_EQ(list(by).code(), "UNAUTHORIZED");
}

TEST_F(CredentialsApi, PresetsAreListedByNameSearchedPagedAndKeptForAMinute) {
  ASSERT_EQ(save().status, 200);
  const auto all = send(me_, "GET", "/api/presets?limit=2");
  ASSERT_EQ(all.status, 200) << all.text;
  EXPECT_EQ(all.body.at("data").at(0).at("name"), "Big Amp");
  const auto rest = send(me_, "GET", "/api/presets?limit=2&cursor=" + all.string("nextCursor"));
  ASSERT_EQ(rest.body.at("data").as_array().size(), 1U);
  EXPECT_EQ(rest.body.at("data").at(0).at("name"), "amp two");
  EXPECT_TRUE(rest.body.at("nextCursor").is_null());
  EXPECT_EQ(send(me_, "GET", "/api/presets?search=AMP").body.at("data").as_array().size(), 2U);
  EXPECT_EQ(send(me_, "GET", "/api/presets?search=AMP&kind=preset").body.at("data").as_array().size(), 1U);
  EXPECT_EQ(send(me_, "GET", "/api/presets/f2").string("name"), "Warm Clean");
  EXPECT_EQ(send(me_, "GET", "/api/presets/nope").code(), "NOT_FOUND");
  EXPECT_EQ(cloud_.lists, 1);
  world_.clock().advance(Millis{9'999});
  EXPECT_EQ(send(me_, "GET", "/api/presets?refresh=true").status, 200);
  EXPECT_EQ(cloud_.lists, 1) << "it was read a moment ago";
  world_.clock().advance(Millis{1});
  EXPECT_EQ(send(me_, "GET", "/api/presets?refresh=true").status, 200);
  EXPECT_EQ(cloud_.lists, 2);
  world_.clock().advance(std::chrono::minutes{1});
  cloud_.away = true;
  EXPECT_EQ(send(me_, "GET", "/api/presets").code(), "CLOUD_UNAVAILABLE");
  EXPECT_EQ(send(me_, "GET", "/api/presets?refresh=maybe").code(), "VALIDATION_FAILED");
}

TEST_F(CredentialsApi, PresetsShowWhatMappingsDoWithThemAndWhichAreGone) {
  ASSERT_EQ(save().status, 200);
  const auto store = add_integration().string("id");
  const auto mapping = [](const char* sku, const char* file, const char* name) {
    return json::object{{"matchType", "sku"}, {"matchValue", sku}, {"fileId", file}, {"fileName", name}};
  };
  ASSERT_EQ(send(me_, "PUT", "/api/integrations/" + store + "/mappings",
                 json::object{
                     {"mappings", json::array{mapping("A", "f2", "Warm"), mapping("B", "f2", "Warm"),
                                              mapping("C", "lost/1", "Zed"), mapping("D", "lost/2", "Ay")}}})
                .status,
            200);
  const auto one = send(me_, "GET", "/api/presets/f2?usage=true");
  EXPECT_EQ(one.string("name"), "Warm Clean") << "as the platform says";
  EXPECT_FALSE(one.body.at("gone").as_bool());
  EXPECT_EQ(one.body.at("usedBy"), 2);
  EXPECT_EQ(one.body.at("deliveredCount"), 0);
  ASSERT_EQ(one.body.at("uses").as_array().size(), 2U);
  EXPECT_EQ(one.body.at("uses").at(0).at("integrationId"), store.c_str());
  EXPECT_EQ(one.body.at("uses").at(0).at("matchValue"), "A");
  const auto lost = send(me_, "GET", "/api/presets/lost%2F1?usage=true");
  ASSERT_EQ(lost.status, 200) << lost.text;
  EXPECT_TRUE(lost.body.at("gone").as_bool());
  EXPECT_EQ(lost.string("name"), "Zed");
  EXPECT_EQ(send(me_, "GET", "/api/presets/lost%2F1").code(), "NOT_FOUND");
  EXPECT_EQ(send(me_, "GET", "/api/presets/nope?usage=true").code(), "NOT_FOUND");
  const auto gone = send(me_, "GET", "/api/presets?gone=true&limit=1");
  ASSERT_EQ(gone.body.at("data").as_array().size(), 1U) << gone.text;
  EXPECT_EQ(gone.body.at("data").at(0).at("name"), "Ay");
  const auto rest = send(me_, "GET", "/api/presets?gone=true&limit=1&cursor=" + gone.string("nextCursor"));
  EXPECT_EQ(rest.body.at("data").at(0).at("id"), "lost/1");
  EXPECT_TRUE(rest.body.at("nextCursor").is_null());
  EXPECT_EQ(send(me_, "GET", "/api/presets?usage=true&search=warm").body.at("data").at(0).at("usedBy"), 2);
  EXPECT_FALSE(send(me_, "GET", "/api/presets").body.at("data").at(0).as_object().contains("usedBy"));

  auto reader = key();
  reader.permissions = {identity::Permission::presets_read};
  const auto little = send(reader, "GET", "/api/presets/f2?usage=true");
  ASSERT_EQ(little.status, 200) << little.text;
  for (const auto* const field : {"usedBy", "uses", "deliveredCount"})
    EXPECT_FALSE(little.body.as_object().contains(field)) << field;
  EXPECT_EQ(send(reader, "GET", "/api/presets/lost%2F1?usage=true").code(), "NOT_FOUND");
  EXPECT_TRUE(send(reader, "GET", "/api/presets?gone=true").body.at("data").as_array().empty());
  const auto other = send(stranger_, "GET", "/api/presets?usage=true");
  EXPECT_EQ(other.code(), "CREDENTIALS_MISSING");
}

TEST_F(CredentialsApi, OneReadsTheListForAllWhoAskMeanwhile) {
  ASSERT_EQ(save().status, 200);
  using Page = Expected<services::PresetPage>;
  for (const bool away : {true, false}) {
    const int before = cloud_.lists;
    cloud_.hold = true;
    cloud_.away = away;
    std::vector<Page> answers;
    for (int i = 0; i < 3; ++i) {
      spawn(presets_.list(world_.scheduler, me_, {}, {}, i == 1),
            [&](Outcome<Page> outcome) { answers.push_back(std::move(*outcome.value)); });
    }
    world_.scheduler.run();
    EXPECT_TRUE(answers.empty());
    cloud_.hold = false;
    cloud_.release();
    world_.scheduler.run();
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(cloud_.lists, before + 1);
    for (const auto& answer : answers) {
      if (away) {
        EXPECT_EQ(answer.error().code, "CLOUD_UNAVAILABLE");
      } else {
        EXPECT_EQ(answer->files.size(), 3U);
      }
    }
  }
}

TEST_F(CredentialsApi, ALoginThatIsRefusedWhilePresetsAreReadIsNotedOnceAndNotTriedAgain) {
  ASSERT_EQ(save().status, 200);
  agent_.stored_refused = true;
  const int logins = agent_.logins;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(send(me_, "GET", "/api/presets").code(), "CREDENTIALS_MISSING");
  EXPECT_EQ(agent_.logins, logins + 1);
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "invalid");
  agent_.stored_refused = false;
  ASSERT_EQ(save().status, 200);
  EXPECT_EQ(send(me_, "GET", "/api/presets").status, 200);
}

}  // namespace
}  // namespace presetbridge::api::testing
