#include "api/handlers/credentials_handlers.h"

#include "api/handlers/credentials_handlers_testing.h"
#include "cloud/cloud_login.h"
#include "services/vault/credential_checks.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(CredentialsApi, AGoodLoginIsSealedForTheAgentAloneAndResumesWhatItStopped) {
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "missing");
  const auto saved = save();
  ASSERT_EQ(saved.status, 200) << saved.text;
  EXPECT_EQ(saved.string("status"), "valid");
  EXPECT_EQ(saved.string("maskedEmail"), "M…@example.com");
  EXPECT_EQ(saved.string("cloudUserId"), "u1");
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::reroute));
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::resume_credentials));
  EXPECT_EQ(retired_, std::vector{account_});
  EXPECT_TRUE(forgotten_.empty());
  EXPECT_EQ(wakes_, 1);
  write([&](storage::Tx& tx) {
    const auto stored = find_stored_login(tx, account_);
    ASSERT_TRUE(stored);
    const auto opened = vault_key_.open({account_, stored->version}, stored->sealed);
    ASSERT_TRUE(opened);
    EXPECT_EQ(cloud::decode_cloud_login(opened->reveal())->password.reveal(), agent_.password);
  });
  EXPECT_EQ(send(stranger_, "GET", "/api/credentials").string("status"), "missing");
}

TEST_F(CredentialsApi, ARefusedLoginSavesNothingAndKeepsTheOneBefore) {
  ASSERT_EQ(save().status, 200);
  const auto refused =
      send(me_, "PUT", "/api/credentials", json::object{{"email", "m@example.com"}, {"password", "wrong"}});
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.code(), "INVALID_CREDENTIALS");
  const auto now = send(me_, "GET", "/api/credentials");
  EXPECT_EQ(now.string("status"), "valid");
  EXPECT_EQ(now.body.at("version").as_int64(), 1);
}

TEST_F(CredentialsApi, ARefusedLoginReturnsHowManyAttemptsAreLeft) {
  const auto left = [&](std::string email) {
    const auto answer =
        send(me_, "PUT", "/api/credentials", json::object{{"email", email}, {"password", "wrong"}});
    EXPECT_EQ(answer.code(), "INVALID_CREDENTIALS");
    return answer.body.at("error").at("attemptsLeft").as_int64();
  };
  for (const auto expected : {4, 3, 2, 1, 0}) EXPECT_EQ(left("m@example.com"), expected);
  EXPECT_EQ(cloud_login(key(), "m@example.com", "wrong").code(), "RATE_LIMIT_EXCEEDED");
  // The account's own limit leaves fewer attempts at another address.
  for (const auto expected : {4, 3, 2, 1}) EXPECT_EQ(left("n@example.com"), expected);
  const auto last = cloud_login(key(), "o@example.com", "wrong");
  EXPECT_EQ(last.code(), "INVALID_CREDENTIALS");
  EXPECT_EQ(last.body.at("error").at("attemptsLeft").as_int64(), 0);
  EXPECT_EQ(cloud_login(key(), "p@example.com", "wrong").code(), "RATE_LIMIT_EXCEEDED");
}

// Two accounts have logins of one cloud user: each counts its own buyers.
TEST_F(CredentialsApi, TheBuyersOfTheAccountAreCountedByFriendship) {
  const std::string path = "/api/credentials?friends=true";
  EXPECT_EQ(send(me_, "GET", path).body.at("friends"), json::value());
  ASSERT_EQ(save().status, 200);
  write([&](storage::Tx& tx) {
    using enum storage::Friendship;
    const auto cloud = storage::find_standing(tx, account_)->cloud_account;
    int number = 0;
    const auto buyer = [&](storage::Friendship state) {
      const auto name = "buyer" + std::to_string(++number);
      const storage::Buyer proposed{cloud, name, world_.ids.make<CustomerId>()};
      auto row = *find_customer(tx, enqueue_buyers(tx, std::span(&proposed, 1), tx.now()).front());
      row.friendship = state;
      row.requested_at = tx.now();
      update_customer(tx, row);
      return row.id;
    };
    const auto deliver = [&](AccountId from, CustomerId to) {
      storage::DeliveryRow row{.id = world_.ids.make<DeliveryId>(), .account = from};
      row.order_key = to_string(row.id);
      row.cloud_account = cloud;
      row.customer = to;
      row.created_at = row.updated_at = tx.now();
      insert_deliveries(tx, std::span(&row, 1));
    };
    for (const auto state : {requested, requesting, friends, friends, declined, blocked, none, unknown})
      deliver(account_, buyer(state));
    const auto both = buyer(friends);
    for (const auto from : {account_, account_, stranger_.account}) deliver(from, both);
    deliver(stranger_.account, buyer(friends));
    deliver(stranger_.account, buyer(declined));
    auto row = *lock_cloud_account(tx, cloud);
    row.last_sweep_at = Timestamp{Millis{1'700'000'000'000}};
    update_cloud_account(tx, row);
    EXPECT_FALSE(count_friendships(tx, account_, cloud, 9).exact);
    EXPECT_EQ(count_friendships(tx, account_, cloud, 2).friends, 1) << "of the newest two deliveries";
    EXPECT_TRUE(count_friendships(tx, account_, cloud, 10).exact);
  });
  EXPECT_EQ(send(me_, "GET", path).body.at("friends"),
            (json::object{{"requested", 2},
                          {"friends", 3},
                          {"declined", 1},
                          {"blocked", 1},
                          {"countIsExact", true},
                          {"lastSweepAt", "2023-11-14T22:13:20.000Z"}}));
  EXPECT_FALSE(send(me_, "GET", "/api/credentials").body.as_object().contains("friends"));
  EXPECT_EQ(send(stranger_, "GET", path).body.at("friends"), json::value());
  ASSERT_EQ(send(stranger_, "PUT", "/api/credentials", login()).status, 200);
  const auto theirs = send(stranger_, "GET", path).body.at("friends");
  EXPECT_EQ(theirs.at("friends"), 2);
  EXPECT_EQ(theirs.at("declined"), 1);
  EXPECT_EQ(theirs.at("requested"), 0);
}

TEST_F(CredentialsApi, ALoginSavedWhileThePlatformIsAwayIsCheckedLater) {
  agent_.away = true;
  EXPECT_EQ(save().string("status"), "unchecked");
  EXPECT_FALSE(has_account_task(storage::AccountTaskKind::resume_credentials));
  services::CredentialChecks checks(world_.scheduler, vault_, log_);
  checks.start();
  world_.scheduler.advance(std::chrono::minutes{1});
  EXPECT_EQ(agent_.logins, 2);  // the save, and one check when it was due
  agent_.away = false;
  world_.scheduler.advance(std::chrono::minutes{2});
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "valid");
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::resume_credentials));
  const int logins = agent_.logins;
  world_.scheduler.advance(std::chrono::hours{3});
  EXPECT_EQ(agent_.logins, logins);
  bool stopped = false;
  checks.stop([&] { stopped = true; });
  world_.scheduler.run();
  EXPECT_TRUE(stopped);
}

TEST_F(CredentialsApi, ADeletedLoginDropsItsSessionsAndFailsWhatNeedsIt) {
  ASSERT_EQ(save().status, 200);
  EXPECT_EQ(send(me_, "DELETE", "/api/credentials").status, 204);
  EXPECT_EQ(forgotten_, std::vector{account_});
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::fail_missing_credentials));
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "missing");
  EXPECT_EQ(send(me_, "DELETE", "/api/credentials").status, 204);
  EXPECT_EQ(send(me_, "POST", "/api/credentials/validate").code(), "NOT_FOUND");
}

TEST_F(CredentialsApi, ValidatingReturnsWhatThePlatformSays) {
  ASSERT_EQ(save().status, 200);
  EXPECT_EQ(send(me_, "POST", "/api/credentials/validate").string("status"), "valid");
  agent_.away = true;
  EXPECT_EQ(send(me_, "POST", "/api/credentials/validate").code(), "CLOUD_UNAVAILABLE");
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "valid");
  agent_.away = false;
  agent_.stored_refused = true;
  EXPECT_EQ(send(me_, "POST", "/api/credentials/validate").string("status"), "invalid");
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::fail_invalid_credentials));
}

TEST_F(CredentialsApi, ALoginThatCannotBeOpenedIsReportedAsThatUntilItIsSavedAgain) {
  ASSERT_EQ(save().status, 200);
  EXPECT_FALSE(send(me_, "GET", "/api/credentials").body.at("unreadable").as_bool());
  agent_.unreadable = true;
  const auto refused = send(me_, "POST", "/api/credentials/validate");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "CONFLICT");
  const auto state = send(me_, "GET", "/api/credentials");
  EXPECT_EQ(state.string("status"), "invalid");
  EXPECT_TRUE(state.body.at("unreadable").as_bool());
  EXPECT_EQ(state.string("maskedEmail"), "M…@example.com");
  EXPECT_EQ(send(me_, "GET", "/api/presets").code(), "CREDENTIALS_MISSING");
  agent_.unreadable = false;
  const auto saved = save();
  EXPECT_EQ(saved.string("status"), "valid");
  EXPECT_FALSE(saved.body.at("unreadable").as_bool());
}

TEST_F(CredentialsApi, AnotherCloudUserMakesTheMappingsStale) {
  ASSERT_EQ(save().status, 200);
  const auto path = "/api/integrations/" + add_integration().string("id") + "/mappings";
  const json::object mapping{{"matchType", "sku"}, {"matchValue", "A"}, {"fileId", "f1"}};
  ASSERT_EQ(send(me_, "PUT", path, json::object{{"mappings", json::array{mapping}}}).status, 200);
  EXPECT_FALSE(save().body.as_object().contains("mappingsMadeStale")) << "the same user again";
  agent_.user_id = "u2";
  const auto other = save();
  ASSERT_EQ(other.status, 200);
  EXPECT_EQ(other.body.at("mappingsMadeStale"), 1);
  EXPECT_TRUE(send(me_, "GET", path).body.at("mappings").at(0).at("stale").as_bool());
  EXPECT_FALSE(send(me_, "GET", "/api/credentials").body.as_object().contains("mappingsMadeStale"));
}

TEST_F(CredentialsApi, TheFormerCloudUsersLoginMakesItsMappingsGoodAgain) {
  const auto path = "/api/integrations/" + add_integration().string("id") + "/mappings";
  const json::object first{{"matchType", "sku"}, {"matchValue", "A"}, {"fileId", "f1"}};
  ASSERT_EQ(send(me_, "PUT", path, json::object{{"mappings", json::array{first}}}).status, 200);
  const auto stale = [&] { return send(me_, "GET", path).body.at("mappings").at(0).at("stale").as_bool(); };
  ASSERT_EQ(save().status, 200);
  EXPECT_FALSE(stale()) << "saved before there was any login";
  agent_.user_id = "u2";
  EXPECT_EQ(save().body.at("mappingsMadeStale"), 1);
  EXPECT_TRUE(stale());
  write([](storage::Tx& tx) { tx.exec_script("DELETE FROM account_chores;"); });
  agent_.user_id = "u1";
  EXPECT_FALSE(save().body.as_object().contains("mappingsMadeStale"));
  EXPECT_FALSE(stale());
  EXPECT_TRUE(has_account_task(storage::AccountTaskKind::resume_mappings));
}

TEST_F(CredentialsApi, AStaleMappingStaysStaleWhileAnotherIsChosenAnew) {
  const auto path = "/api/integrations/" + add_integration().string("id") + "/mappings";
  const auto mapping = [](const char* sku, const char* file, bool stale) {
    return json::object{{"matchType", "sku"}, {"matchValue", sku}, {"fileId", file}, {"stale", stale}};
  };
  const auto put = [&](json::array mappings) {
    return send(me_, "PUT", path, json::object{{"mappings", std::move(mappings)}});
  };
  const auto stale = [&](const char* sku) {
    for (const auto& it : send(me_, "GET", path).body.at("mappings").as_array()) {
      if (it.at("matchValue").as_string() == sku) return it.at("stale").as_bool();
    }
    return false;
  };
  ASSERT_EQ(save().status, 200);
  ASSERT_EQ(put({mapping("A", "f1", true), mapping("B", "f2", false)}).status, 200);
  EXPECT_FALSE(stale("A")) << "it was none before";
  agent_.user_id = "u2";
  EXPECT_EQ(save().body.at("mappingsMadeStale"), 2);
  // B is chosen anew; A is sent back as it is shown.
  ASSERT_EQ(put({mapping("A", "f1", true), mapping("B", "f9", false)}).status, 200);
  EXPECT_TRUE(stale("A"));
  EXPECT_FALSE(stale("B"));
  agent_.user_id = "u1";
  EXPECT_EQ(save().body.at("mappingsMadeStale"), 1);
  EXPECT_FALSE(stale("A")) << "its own login is back";
  EXPECT_TRUE(stale("B"));
}

TEST_F(CredentialsApi, AMappingToAFileThatIsNotListedIsSavedWithAHint) {
  ASSERT_EQ(save().status, 200);
  const auto path = "/api/integrations/" + add_integration().string("id") + "/mappings";
  const auto put = [&](const char* file) {
    const json::object mapping{{"matchType", "sku"}, {"matchValue", file}, {"fileId", file}};
    const auto answer = send(me_, "PUT", path, json::object{{"mappings", json::array{mapping}}});
    EXPECT_EQ(answer.status, 200) << answer.text;
    EXPECT_EQ(answer.body.at("mappings").at(0).at("fileId"), file);
    const auto* hint = answer.body.as_object().if_contains("unknownFileIds");
    return hint ? *hint : json::value();
  };
  EXPECT_EQ(put("gone"), json::value()) << "nobody has read the list yet";
  EXPECT_EQ(cloud_.lists, 0) << "and it is not read for this";
  ASSERT_EQ(send(me_, "GET", "/api/presets").status, 200);
  EXPECT_EQ(put("gone"), json::array{"gone"});
  EXPECT_EQ(put("f1"), json::value());
}

TEST_F(CredentialsApi, AnEmailIsLockedAfterFiveFailuresInQuarterOfAnHourForEveryAccount) {
  auto by = key();
  for (int i = 0; i < 5; ++i) {
    world_.clock().advance(std::chrono::minutes{1});
    EXPECT_EQ(cloud_login(by, "victim@example.com", "guess").code(), "INVALID_CREDENTIALS");
  }
  auto other = by;
  other.account = stranger_.account;
  const int logins = agent_.logins;
  const auto refused = cloud_login(other, "VICTIM@example.com", agent_.password);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(refused.body.at("error").at("message").as_string(), "Rate limit exceeded");
  EXPECT_EQ(refused.headers.get("Retry-After"), "660");  // until the first is a quarter of an hour old
  EXPECT_EQ(agent_.logins, logins);
  world_.clock().advance(std::chrono::minutes{11});
  EXPECT_EQ(cloud_login(other, "victim@example.com", agent_.password).status, 200);
}

TEST_F(CredentialsApi, AnAccountHasTenFailuresAnHourWhateverTheDoor) {
  for (int i = 0; i < 10; ++i) {
    const auto email = "m" + std::to_string(i / 4) + "@example.com";
    const auto answer =
        i % 2 == 0 ? send(me_, "PUT", "/api/credentials", json::object{{"email", email}, {"password", "no"}})
                   : cloud_login(key(), email, "no");
    EXPECT_EQ(answer.status, 401) << i;
  }
  EXPECT_EQ(save().status, 429);
  EXPECT_EQ(cloud_login(key(), "new@example.com", "x").status, 429);
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_EQ(save().status, 200);
}

TEST_F(CredentialsApi, AnAccountUsesTwentyAddressesADay) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(cloud_login(key(), "m" + std::to_string(i) + "@example.com", agent_.password).status, 200);
  }
  EXPECT_EQ(cloud_login(key(), "m20@example.com", agent_.password).status, 429);
  EXPECT_EQ(cloud_login(key(), "m3@example.com", agent_.password).status, 200);
  world_.clock().advance(std::chrono::hours{24});
  EXPECT_EQ(cloud_login(key(), "m20@example.com", agent_.password).status, 200);
}

TEST_F(CredentialsApi, AttemptsThatGetNoAnswerCountForNothing) {
  agent_.away = true;
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(cloud_login(key(), "m@example.com", "x").code(), "CLOUD_UNAVAILABLE");
  agent_.away = false;
  EXPECT_EQ(cloud_login(key(), "m@example.com", agent_.password).status, 200);
}

TEST_F(CredentialsApi, ALoginThatFindsNoPlaceHereIsOverloadedAndCountsForNothing) {
  ASSERT_EQ(save().status, 200);
  agent_.busy = true;
  for (int i = 0; i < 12; ++i) {
    const auto answer = cloud_login(key(), "m@example.com", "x");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "OVERLOADED");
  }
  EXPECT_EQ(send(me_, "POST", "/api/credentials/validate").code(), "OVERLOADED");
  EXPECT_EQ(send(me_, "GET", "/api/presets").code(), "OVERLOADED");
  EXPECT_EQ(send(me_, "GET", "/api/credentials").string("status"), "valid");
  agent_.busy = false;
  EXPECT_EQ(cloud_login(key(), "m@example.com", agent_.password).status, 200);
}

TEST_F(CredentialsApi, NoAnswerAndNoLogHoldsThePassword) {
  save();
  cloud_login(key(), "m@example.com", agent_.password);
  agent_.away = true;
  save();
  cloud_login(key(), "m@example.com", agent_.password);
  send(me_, "POST", "/api/credentials/validate");
  send(me_, "PUT", "/api/credentials", json::object{{"email", "m"}, {"password", agent_.password}});
  agent_.password = "another";
  send(me_, "PUT", "/api/credentials",
       json::object{{"email", "m@example.com"}, {"password", "planted-password-9731"}});
  EXPECT_EQ((all_answers_ + log_.text).find("planted-password-9731"), std::string::npos);
  EXPECT_EQ(all_answers_.find("cloud-session-token"), std::string::npos);
}

TEST_F(CredentialsApi, ABodyThatIsNoLoginIs422AndAttemptsNothing) {
  for (const json::value& body :
       {json::value(json::object{}), json::value{{"email", "m@example.com"}},
        json::value{{"email", "m@example.com"}, {"password", 7}}, json::value{{"password", "x"}}}) {
    EXPECT_EQ(send(me_, "PUT", "/api/credentials", body).code(), "VALIDATION_FAILED");
  }
  EXPECT_EQ(send(me_, "POST", "/api/auth/login", json::object{{"credentials", 1}}).code(),
            "VALIDATION_FAILED");
  EXPECT_EQ(send(me_, "PUT", "/api/credentials").status, 415);
  EXPECT_EQ(agent_.logins, 0);
}

}  // namespace
}  // namespace presetbridge::api::testing
