#include "cloud/http_cloud.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/testing.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

// Answers what a test has queued, and keeps what it was asked.
class FakeHttp final : public net::HttpClient {
 public:
  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override {
    requests.push_back(std::move(request));
    net::HttpResult result = std::move(answers.front());
    answers.pop_front();
    co_return co_await suspend<net::HttpResult>(executor, [&](auto resume) { resume(std::move(result)); });
  }
  std::deque<net::HttpResult> answers;
  std::vector<net::OutgoingRequest> requests;
};

net::HttpResult answered(int status, std::string body,
                         std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {net::HttpAnswer{status, std::move(headers), std::move(body), false}, Millis{1}};
}

net::HttpResult failed(net::HttpFailure::Kind kind) {
  return {net::HttpFailure{kind, "simulated"}, Millis{1}};
}

std::string error_body(const std::string& code) {
  return R"({"error":{"code":")" + code + R"(","message":"words of the platform"}})";
}

constexpr const char* kShareBody = R"({"id":"s1","idempotencyKey":"k1","sharedAt":"2026-01-02T03:04:05Z"})";

class HttpCloudTest : public ::testing::Test {
 protected:
  template <class T>
  T await(Task<T> task) {
    std::optional<T> value;
    spawn(std::move(task), [&](Outcome<T> outcome) { value = std::move(outcome.value); });
    scheduler.run();
    return std::move(value.value());
  }
  void answer(net::HttpResult result) { http.answers.push_back(std::move(result)); }

  CloudResult<CloudUser> find_user(std::string name = "ann") {
    return await(cloud.find_user(scheduler, session, std::move(name)));
  }
  CloudResult<Share> share() { return await(cloud.share(scheduler, session, "f/1", "u 1", "k1")); }
  CloudResult<std::optional<Share>> find_share() {
    return await(cloud.find_share(scheduler, session, "f1", "u1"));
  }

  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler scheduler{clock};
  FakeHttp http;
  HttpCloud cloud{http, clock, {.base_url = "https://cloud.test/v1", .paths = {}, .timeout = Millis{7'000}}};
  Session session{"token-1", "m-1", "shop", Timestamp{}};
};

TEST_F(HttpCloudTest, SendsTheSessionAndTheDeadlineAndEncodesThePath) {
  answer(answered(200, R"({"id":"u1","username":"A/b ?"})"));
  ASSERT_TRUE(find_user("a/b ?"));
  const auto& request = http.requests.at(0);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.url, "https://cloud.test/v1/users/by-name/a%2Fb%20%3F");
  EXPECT_EQ(request.deadline, Millis{7'000});
  EXPECT_EQ(request.policy, net::AddressPolicy::configured);
  EXPECT_EQ(request.headers.at(0), (std::pair<std::string, std::string>("Authorization", "Bearer token-1")));
}

TEST_F(HttpCloudTest, DoesNotBelieveAnAnswerAboutAnotherUser) {
  answer(answered(200, R"({"id":"u2","username":"bob"})"));
  EXPECT_EQ(find_user("ann").error().kind, Kind::user_not_found) << "no trouble that three orders could make";
  answer(answered(200, R"({"userId":"u2","state":"friends"})"));
  EXPECT_EQ(await(cloud.friendship(scheduler, session, "u1")).error().kind, Kind::malformed);
}

TEST_F(HttpCloudTest, AUsernameThatCannotBeOneIsNotFoundWithoutACall) {
  for (const std::string& name :
       {std::string(), std::string(".."), std::string(201, 'x'), std::string("a\tb")}) {
    EXPECT_EQ(find_user(name).error().kind, Kind::user_not_found);
  }
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(HttpCloudTest, AShareIsNewWith201AndStoodBeforeWith200) {
  answer(answered(201, kShareBody));
  const auto made = share();
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->existed);
  EXPECT_EQ(made->idempotency_key, "k1");
  EXPECT_EQ(http.requests[0].method, "PUT");
  EXPECT_EQ(http.requests[0].url, "https://cloud.test/v1/files/f%2F1/shares/u%201");
  EXPECT_EQ(http.requests[0].headers.at(2), (std::pair<std::string, std::string>("Idempotency-Key", "k1")));
  answer(answered(200, kShareBody));
  EXPECT_TRUE(share()->existed);
}

TEST_F(HttpCloudTest, TheEffectOfAShareIsUnknownWhenItsAnswerIsLostBrokenOrA5xx) {
  for (const auto kind :
       {net::HttpFailure::Kind::timeout, net::HttpFailure::Kind::lost, net::HttpFailure::Kind::aborted}) {
    answer(failed(kind));
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::unavailable);
    EXPECT_TRUE(error.effect_unknown);
  }
  for (const int status : {500, 502, 503, 504}) {
    answer(answered(status, "<html>"));
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::unavailable);
    EXPECT_TRUE(error.effect_unknown);
  }
  for (const char* body : {"{\"id\":", "{}", ""}) {
    answer(answered(201, body));
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::malformed);
    EXPECT_TRUE(error.effect_unknown);
  }
  for (const int status : {202, 204, 302}) {
    answer(answered(status, kShareBody));
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::malformed);
    EXPECT_TRUE(error.effect_unknown);
  }
}

TEST_F(HttpCloudTest, AShareThatWasNeverSentOrWasRefusedHadNoEffect) {
  for (const auto kind : {net::HttpFailure::Kind::connect, net::HttpFailure::Kind::unresolved,
                          net::HttpFailure::Kind::tls, net::HttpFailure::Kind::denied}) {
    answer(failed(kind));
    const auto error = share().error();
    EXPECT_EQ(error.kind, Kind::unavailable);
    EXPECT_FALSE(error.effect_unknown);
  }
  const std::vector<std::tuple<int, std::string, Kind>> refusals{
      {401, "session_refused", Kind::session_refused},
      {401, "login_refused", Kind::session_refused},
      {403, "blocked", Kind::blocked},
      {404, "user_not_found", Kind::user_not_found},
      {404, "file_not_found", Kind::file_not_found},
      {409, "not_friends", Kind::not_friends},
      {409, "not_shareable", Kind::not_shareable},
      {422, "something_else", Kind::rejected},
      {408, "unavailable", Kind::unavailable},
      {425, "unavailable", Kind::unavailable},
      {429, "rate_limited", Kind::rate_limited}};
  for (const auto& [status, code, kind] : refusals) {
    answer(answered(status, error_body(code)));
    const auto error = share().error();
    EXPECT_EQ(error.kind, kind) << status << code;
    EXPECT_FALSE(error.effect_unknown);
  }
}

TEST_F(HttpCloudTest, AReadingNeverLeavesAnEffectUnknown) {
  answer(failed(net::HttpFailure::Kind::timeout));
  EXPECT_FALSE(find_user().error().effect_unknown);
  answer(answered(500, ""));
  EXPECT_FALSE(find_user().error().effect_unknown);
  answer(answered(200, "{"));
  EXPECT_FALSE(find_user().error().effect_unknown);
}

TEST_F(HttpCloudTest, AStrangers404IsNotAMissingUserOrShare) {
  answer(answered(404, "<html>not found</html>"));
  EXPECT_EQ(find_user().error().kind, Kind::malformed);
  answer(answered(404, "<html>not found</html>"));
  EXPECT_EQ(find_share().error().kind, Kind::malformed);
}

TEST_F(HttpCloudTest, ALookUpReturns404AsNoShare) {
  for (const char* code : {"share_not_found", "user_not_found", "file_not_found"}) {
    answer(answered(404, error_body(code)));
    const auto found = find_share();
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
  answer(answered(200, kShareBody));
  const auto found = find_share();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->idempotency_key, "k1");
}

TEST_F(HttpCloudTest, ReturnsRetryAfter) {
  answer(answered(429, "", {{"retry-after", "17"}}));
  const auto error = find_user().error();
  EXPECT_EQ(error.kind, Kind::rate_limited);
  EXPECT_EQ(error.retry_after, Millis{17'000});
}

TEST_F(HttpCloudTest, ShowsThePlatformsWordsOnlyForAnUnforeseenRefusalAndNeverTheToken) {
  answer(answered(400, error_body("strange")));
  EXPECT_NE(find_user().error().message.find("words of the platform"), std::string::npos);
  answer(answered(400, R"({"error":{"code":"strange","message":"bad token-1!"}})"));
  EXPECT_EQ(find_user().error().message.find("token-1"), std::string::npos);
}

TEST_F(HttpCloudTest, RefusesAnswersThatWereCut) {
  auto cut = answered(201, kShareBody);
  std::get<net::HttpAnswer>(cut.outcome).truncated = true;
  answer(std::move(cut));
  EXPECT_EQ(share().error().kind, Kind::malformed);
}

TEST_F(HttpCloudTest, PagesAreAskedWithinTheLimitAndMustMoveOn) {
  answer(answered(200, R"({"files":[{"id":"f","kind":"preset","name":""}],"nextCursor":"f","more":true})"));
  const auto page = await(cloud.list_files(scheduler, session, "a b", 10'000));
  ASSERT_TRUE(page);
  EXPECT_EQ(http.requests[0].url, "https://cloud.test/v1/files?limit=500&cursor=a%20b");
  EXPECT_EQ(http.requests[0].max_answer_bytes, 1024U * 1024U);

  answer(answered(200, R"({"changes":[],"nextCursor":"c7","more":true})"));
  EXPECT_EQ(await(cloud.friendships_since(scheduler, session, "c7", 10)).error().kind, Kind::malformed);
  answer(answered(200, R"({"files":[{"id":"f","kind":"p","name":""},{"id":"g","kind":"p","name":""}],)"
                       R"("nextCursor":"g","more":false})"));
  EXPECT_EQ(await(cloud.list_files(scheduler, session, "", 1)).error().kind, Kind::malformed);
}

TEST_F(HttpCloudTest, AFriendRequestEndsAsRequestedOrFriendsOnly) {
  answer(answered(200, R"({"userId":"u1","state":"requested"})"));
  EXPECT_EQ(*await(cloud.request_friendship(scheduler, session, "u1", "k")), FriendshipState::requested);
  answer(answered(200, R"({"userId":"u1","state":"declined"})"));
  const auto odd = await(cloud.request_friendship(scheduler, session, "u1", "k"));
  EXPECT_EQ(odd.error().kind, Kind::malformed);
  EXPECT_TRUE(odd.error().effect_unknown);
}

TEST_F(HttpCloudTest, WithdrawalAndRevocationEndWith204) {
  answer(answered(204, ""));
  EXPECT_TRUE(await(cloud.withdraw_friendship(scheduler, session, "u1")));
  answer(answered(204, ""));
  EXPECT_TRUE(await(cloud.revoke_share(scheduler, session, "f1", "u1")));
  EXPECT_EQ(http.requests[1].method, "DELETE");
  answer(answered(200, ""));
  EXPECT_TRUE(await(cloud.revoke_share(scheduler, session, "f1", "u1")).error().effect_unknown);
}

class LogInTest : public HttpCloudTest {
 protected:
  CloudResult<Session> log_in_with(std::string password) {
    return await(cloud.log_in(scheduler, {"m@example.com", crypto::SecretString(std::move(password))}));
  }
};

TEST_F(LogInTest, GivesTheSession) {
  answer(
      answered(201, R"({"token":"t","expiresAt":"2026-01-02T03:04:05Z","user":{"id":"m","username":"n"}})"));
  const auto result = log_in_with("secret");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->token, "t");
  EXPECT_EQ(result->user_id, "m");
  EXPECT_EQ(http.requests[0].url, "https://cloud.test/v1/sessions");
}

TEST_F(LogInTest, AnyRefusalOfThe401IsARefusedLoginAndRepeatsNoWordOfThePlatform) {
  for (const char* code : {"login_refused", "session_refused", "strange"}) {
    answer(
        answered(401, R"({"error":{"code":")" + std::string(code) + R"(","message":"hunter2 is wrong"}})"));
    const auto error = log_in_with("hunter2").error();
    EXPECT_EQ(error.kind, Kind::login_refused);
    EXPECT_EQ(error.message.find("hunter2"), std::string::npos);
  }
  answer(answered(400, R"({"error":{"code":"strange","message":"hunter2 is wrong"}})"));
  EXPECT_EQ(log_in_with("hunter2").error().message.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace presetbridge::cloud
