// The bridge's adapter against the real cloudsim program, over loopback, through every fault that the
// simulator knows.
#include "cloud/http_cloud.h"

#include <set>

#include "simulator_process.h"

namespace presetbridge::cloudsim {
namespace {

using cloud::CloudError;
using cloud::FriendshipState;
using Kind = CloudError::Kind;

class HttpCloudOverSimulator : public SimulatorTest {
 protected:
  HttpCloudOverSimulator() {
    sim("POST", "/sim/merchants",
        {{"email", "shop@sim.test"}, {"password", "pw"}, {"userId", "m-1"}, {"count", 5}});
    ann = customer("ann", "accept");
    session = log_in().value();
  }

  std::string customer(const std::string& name, const std::string& answer, int delay_ms = 0) {
    const auto made =
        sim("POST", "/sim/customers", {{"username", name}, {"answer", answer}, {"delayMs", delay_ms}});
    return std::string(made.at("customers").at(0).at("userId").as_string());
  }
  cloud::CloudResult<cloud::Session> log_in(const std::string& password = "pw") {
    return await(cloud.log_in(scheduler(), {"shop@sim.test", crypto::SecretString(password)}));
  }
  auto request(const std::string& user) {
    return await(cloud.request_friendship(scheduler(), session, user, "k-request"));
  }
  auto share(const std::string& key = "k-share", const std::string& file = "m-1-f1") {
    return await(cloud.share(scheduler(), session, file, ann, key));
  }
  auto find_share() { return await(cloud.find_share(scheduler(), session, "m-1-f1", ann)); }
  std::int64_t count(const char* group, const char* name) {
    return sim("GET", "/sim/counts").at(group).at(name).as_int64();
  }

  cloud::HttpCloud cloud{http, clock, {.base_url = simulator.url(), .paths = {}, .timeout = Millis{2'000}}};
  cloud::Session session;
  std::string ann;
};

TEST_F(HttpCloudOverSimulator, SharesAFileOnceMutualFollowStands) {
  const auto user = await(cloud.find_user(scheduler(), session, "ANN"));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->id, ann);
  EXPECT_EQ(await(cloud.friendship(scheduler(), session, ann)), FriendshipState::none);
  EXPECT_EQ(share().error().kind, Kind::not_friends);
  EXPECT_FALSE(find_share().value());
  EXPECT_EQ(request(ann), FriendshipState::friends);
  const auto made = share();
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->existed);
  EXPECT_EQ(made->idempotency_key, "k-share");
  const auto again = share("k-other");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->idempotency_key, "k-share");
  EXPECT_EQ(find_share().value()->id, made->id);
  EXPECT_TRUE(await(cloud.revoke_share(scheduler(), session, "m-1-f1", ann)));
  EXPECT_TRUE(await(cloud.revoke_share(scheduler(), session, "m-1-f1", ann)));
  EXPECT_FALSE(find_share().value());
  EXPECT_EQ(count("shares", "made"), 1);
  EXPECT_EQ(count("shares", "existed"), 1);
  EXPECT_EQ(count("shares", "revoked"), 1);
}

TEST_F(HttpCloudOverSimulator, ReportsEachRefusalOfThePlatform) {
  EXPECT_EQ(await(cloud.find_user(scheduler(), session, "nobody")).error().kind, Kind::user_not_found);
  EXPECT_EQ(request("u-404").error().kind, Kind::user_not_found);
  EXPECT_EQ(request(customer("bea", "block")).error().kind, Kind::blocked);
  ASSERT_TRUE(request(ann));
  EXPECT_EQ(share("k", "no-file").error().kind, Kind::file_not_found);
  sim("POST", "/sim/files",
      {{"merchant", "m-1"}, {"files", boost::json::array{{{"id", "locked"}, {"shareable", false}}}}});
  EXPECT_EQ(share("k", "locked").error().kind, Kind::not_shareable);
  EXPECT_EQ(share("not a key").error().kind, Kind::rejected);
}

TEST_F(HttpCloudOverSimulator, AcceptanceDeclineAndWithdrawalShowInTheListOldestFirst) {
  const auto dan = customer("dan", "decline");
  const auto eve = customer("eve", "never");
  EXPECT_EQ(request(dan), FriendshipState::requested);
  EXPECT_EQ(await(cloud.friendship(scheduler(), session, dan)), FriendshipState::declined);
  EXPECT_EQ(request(eve), FriendshipState::requested);
  EXPECT_EQ(request(ann), FriendshipState::friends);

  const auto first = await(cloud.friendships_since(scheduler(), session, "", 2));
  ASSERT_TRUE(first);
  ASSERT_EQ(first->changes.size(), 2U);
  EXPECT_TRUE(first->more);
  EXPECT_EQ(first->changes[0].user_id, dan);
  EXPECT_EQ(first->changes[0].state, FriendshipState::declined);
  EXPECT_EQ(first->changes[1].user_id, eve);
  const auto second = await(cloud.friendships_since(scheduler(), session, first->next_cursor, 2));
  ASSERT_EQ(second->changes.size(), 1U);
  EXPECT_FALSE(second->more);
  EXPECT_EQ(second->changes[0].state, FriendshipState::friends);

  ASSERT_TRUE(await(cloud.withdraw_friendship(scheduler(), session, eve)));
  sim("PUT", "/sim/friendship", {{"merchant", "m-1"}, {"customer", dan}, {"state", "friends"}});
  const auto third = await(cloud.friendships_since(scheduler(), session, second->next_cursor, 10));
  ASSERT_EQ(third->changes.size(), 2U);
  EXPECT_EQ(third->changes[0].state, FriendshipState::none);
  EXPECT_EQ(third->changes[1].user_id, dan);
  const auto last = await(cloud.friendships_since(scheduler(), session, third->next_cursor, 10));
  EXPECT_TRUE(last->changes.empty());
  EXPECT_EQ(last->next_cursor, third->next_cursor);
}

TEST_F(HttpCloudOverSimulator, PagesThroughAllFiles) {
  sim("POST", "/sim/files", {{"merchant", "m-1"}, {"count", 1000}});
  std::set<std::string> ids;
  std::string cursor;
  int pages = 0;
  while (true) {
    const auto page = await(cloud.list_files(scheduler(), session, cursor, 300));
    ASSERT_TRUE(page);
    ++pages;
    for (const auto& file : page->files) ids.insert(file.id);
    cursor = page->next_cursor;
    if (!page->more) break;
  }
  EXPECT_EQ(ids.size(), 1005U);
  EXPECT_EQ(pages, 4);
}

TEST_F(HttpCloudOverSimulator, FaultsBeforeTheEffectLeaveNone) {
  ASSERT_TRUE(request(ann));
  script("share", {{"fault", "too_many_requests"}, {"retryAfterS", 7}});
  const auto limited = share().error();
  EXPECT_EQ(limited.kind, Kind::rate_limited);
  EXPECT_EQ(limited.retry_after, Millis{7'000});
  EXPECT_FALSE(limited.effect_unknown);
  for (const char* fault : {"server_error", "drop_before"}) {
    script("share", {{"fault", fault}});
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::unavailable) << fault;
    EXPECT_TRUE(error.effect_unknown) << fault;
    EXPECT_FALSE(find_share().value()) << fault;
  }
  EXPECT_EQ(count("shares", "made"), 0);
}

TEST_F(HttpCloudOverSimulator, FaultsAfterTheEffectAreFoundByALookUpWithTheKey) {
  ASSERT_TRUE(request(ann));
  int made = 0;
  for (const char* fault : {"drop_after", "server_error_after", "malformed", "wrong"}) {
    script("share", {{"fault", fault}});
    const auto key = "k-" + std::to_string(++made);
    const auto lost = share(key);
    ASSERT_FALSE(lost) << fault;
    EXPECT_TRUE(lost.error().effect_unknown) << fault;
    const auto found = find_share();
    ASSERT_TRUE(found && *found) << fault;
    EXPECT_EQ((*found)->idempotency_key, key);
    EXPECT_TRUE(share(key)->existed);
    ASSERT_TRUE(await(cloud.revoke_share(scheduler(), session, "m-1-f1", ann)));
  }
  EXPECT_EQ(count("shares", "made"), 4);
  EXPECT_EQ(count("shares", "repeats"), 4);
}

TEST_F(HttpCloudOverSimulator, ARepeatedCallSharesOnceAndIsAnsweredForTheSecondTime) {
  ASSERT_TRUE(request(ann));
  script("share", {{"fault", "repeated"}});
  const auto made = share();
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->existed);
  EXPECT_EQ(made->idempotency_key, "k-share");
  EXPECT_EQ(count("shares", "made"), 1);
  EXPECT_EQ(count("shares", "repeats"), 1);
}

TEST_F(HttpCloudOverSimulator, ALateAnswerIsATimeoutWithUnknownEffect) {
  ASSERT_TRUE(request(ann));
  cloud::HttpCloud hasty{http, clock, {.base_url = simulator.url(), .paths = {}, .timeout = Millis{2'000}}};
  script("share", {{"fault", "none"}, {"answerLatencyMs", 5'000}});
  const auto late = await(hasty.share(scheduler(), session, "m-1-f1", ann, "k"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Kind::unavailable);
  EXPECT_TRUE(late.error().effect_unknown);
  EXPECT_TRUE(find_share().value());
}

TEST_F(HttpCloudOverSimulator, BrokenReadingsAreMalformedOnEveryCall) {
  for (const char* fault : {"malformed", "wrong"}) {
    for (const char* endpoint :
         {"findUser", "friendship", "listFriendshipsChanged", "listFiles", "findShare", "login"}) {
      script(endpoint, {{"fault", fault}});
    }
    ASSERT_TRUE(request(ann));
    ASSERT_TRUE(share());
    EXPECT_EQ(await(cloud.find_user(scheduler(), session, "ann")).error().kind, Kind::malformed);
    EXPECT_EQ(await(cloud.friendship(scheduler(), session, ann)).error().kind, Kind::malformed);
    EXPECT_EQ(await(cloud.friendships_since(scheduler(), session, "", 9)).error().kind, Kind::malformed);
    EXPECT_EQ(await(cloud.list_files(scheduler(), session, "", 9)).error().kind, Kind::malformed);
    EXPECT_EQ(find_share().error().kind, Kind::malformed);
    EXPECT_EQ(log_in().error().kind, Kind::malformed);
  }
}

TEST_F(HttpCloudOverSimulator, ARevokedSessionIsRefusedUntilTheNextLogin) {
  sim("POST", "/sim/sessions/revoke", {{"merchant", "m-1"}});
  EXPECT_EQ(share().error().kind, Kind::session_refused);
  session = log_in().value();
  EXPECT_TRUE(request(ann));
  EXPECT_EQ(log_in("wrong").error().kind, Kind::login_refused);
}

TEST_F(HttpCloudOverSimulator, EveryCallIsLoggedWithItsTimeAndMerchant) {
  ASSERT_TRUE(request(ann));
  script("share", {{"fault", "drop_before"}});
  ASSERT_FALSE(share());
  const auto calls = sim("GET", "/sim/calls").at("calls").as_array();
  ASSERT_EQ(calls.size(), 3U);  // the login of the fixture is the first
  EXPECT_EQ(calls[1].at("endpoint"), "requestFriendship");
  EXPECT_EQ(calls[1].at("merchant"), "m-1");
  EXPECT_EQ(calls[1].at("status"), 200);
  EXPECT_EQ(calls[2].at("fault"), "drop_before");
  EXPECT_EQ(calls[2].at("status"), 0);
  EXPECT_GE(calls[2].at("atMs").as_int64(), calls[1].at("atMs").as_int64());
}

TEST_F(HttpCloudOverSimulator, AnUnreachablePlatformHadNoEffect) {
  cloud::HttpCloud nowhere{http, clock, {.base_url = "http://127.0.0.1:1", .paths = {}}};
  const auto error = await(nowhere.share(scheduler(), session, "m-1-f1", ann, "k")).error();
  EXPECT_EQ(error.kind, Kind::unavailable);
  EXPECT_FALSE(error.effect_unknown);
}

}  // namespace
}  // namespace presetbridge::cloudsim
