#include "identity/remote_issuer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "identity/testing.h"

namespace presetbridge::identity {
namespace {

using crypto::JwsAlgorithm;
using crypto::PrivateJwk;

// Answers from a table, when a test lets it; counts.
class FakeHttp final : public net::HttpClient {
 public:
  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override {
    ++calls[request.url];
    auto start = [this, &request](auto resume) {
      pending.push_back([this, url = request.url, resume]() mutable {
        net::HttpResult result;
        if (const auto found = pages.find(url); found != pages.end()) {
          result.outcome = net::HttpAnswer{200, {}, found->second, false};
        } else {
          result.outcome = net::HttpFailure{net::HttpFailure::Kind::connect, "no connection"};
        }
        resume(std::move(result));
      });
      if (at_once) deliver();
    };
    co_return co_await suspend<net::HttpResult>(executor, std::move(start));
  }
  void deliver() {
    auto due = std::move(pending);
    pending.clear();
    for (auto& one : due) one();
  }
  std::map<std::string, std::string> pages;
  std::map<std::string, int> calls;
  std::vector<std::function<void()>> pending;
  bool at_once = true;
};

constexpr const char* kDiscovery = "https://id.example/.well-known/openid-configuration";
constexpr const char* kJwks = "https://id.example/keys";

class RemoteIssuerTest : public ::testing::Test {
 protected:
  RemoteIssuerTest() {
    http_.pages[kDiscovery] = R"({"issuer":"https://id.example","jwks_uri":"https://id.example/keys"})";
    publish(first_);
  }
  void publish(const PrivateJwk& key) {
    http_.pages[kJwks] = crypto::JwkSet(std::vector{key.public_key()}).to_json();
  }
  Expected<Keys> keys() { return world_.await(issuer_.keys(world_.scheduler)); }
  Expected<Keys> fresh_keys() { return world_.await(issuer_.fresh_keys(world_.scheduler)); }
  static std::string kid(const Expected<Keys>& keys) {
    return keys ? (*keys)->keys().at(0).kid() : keys.error().code;
  }

  testing::World world_;
  FakeHttp http_;
  PrivateJwk first_ = PrivateJwk::generate(JwsAlgorithm::es256);
  PrivateJwk second_ = PrivateJwk::generate(JwsAlgorithm::es256);
  RemoteIssuer issuer_{
      {.iss = "https://id.example", .audience = "client"}, http_, world_.clock(), world_.log};
};

TEST_F(RemoteIssuerTest, KeysAreFetchedOnceAndKeptForAnHour) {
  EXPECT_EQ(kid(keys()), first_.kid());
  EXPECT_EQ(kid(keys()), first_.kid());
  EXPECT_EQ(http_.calls[kJwks], 1);
  world_.clock().advance(std::chrono::hours{1});
  publish(second_);
  EXPECT_EQ(kid(keys()), second_.kid());
  EXPECT_EQ(http_.calls[kJwks], 2);
}

TEST_F(RemoteIssuerTest, ACrowdWaitsForOneFetch) {
  http_.at_once = false;
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    spawn(issuer_.keys(world_.scheduler), [&](Outcome<Expected<Keys>> outcome) {
      EXPECT_TRUE(outcome.value && *outcome.value);
      ++done;
    });
  }
  for (int i = 0; i < 3; ++i) {
    world_.scheduler.run();
    http_.deliver();
  }
  world_.scheduler.run();
  EXPECT_EQ(done, 10);
  EXPECT_EQ(http_.calls[kDiscovery], 1);
  EXPECT_EQ(http_.calls[kJwks], 1);
}

TEST_F(RemoteIssuerTest, AnUnknownKeyRefetchesAtMostOnceAMinute) {
  ASSERT_TRUE(keys());
  publish(second_);
  EXPECT_EQ(kid(fresh_keys()), first_.kid()) << "just fetched";
  world_.clock().advance(std::chrono::minutes{1});
  EXPECT_EQ(kid(fresh_keys()), second_.kid());
  for (int i = 0; i < 100; ++i) fresh_keys();
  EXPECT_EQ(http_.calls[kJwks], 2);
}

TEST_F(RemoteIssuerTest, WhileTheIssuerIsAwayKnownKeysServeForADay) {
  ASSERT_TRUE(keys());
  http_.pages.clear();
  world_.clock().advance(std::chrono::hours{23});
  EXPECT_EQ(kid(keys()), first_.kid());
  EXPECT_EQ(kid(keys()), first_.kid());
  EXPECT_EQ(http_.calls[kDiscovery], 2) << "the failed fetch cools down";
  world_.clock().advance(std::chrono::hours{2});
  EXPECT_EQ(kid(keys()), "ISSUER_UNAVAILABLE");
}

TEST_F(RemoteIssuerTest, DocumentsThatAreNotTheIssuersAreRefused) {
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"another issuer", R"({"issuer":"https://evil.example","jwks_uri":"https://id.example/keys"})"},
      {"keys over plain HTTP", R"({"issuer":"https://id.example","jwks_uri":"http://id.example/keys"})"},
      {"no keys", R"({"issuer":"https://id.example"})"},
      {"a list", "[]"},
      {"not JSON", "<html>"},
  };
  for (const auto& [what, text] : documents) {
    http_.pages[kDiscovery] = text;
    EXPECT_EQ(kid(keys()), "ISSUER_UNAVAILABLE") << what;
    world_.clock().advance(std::chrono::minutes{1});
  }
  http_.pages[kDiscovery] = R"({"issuer":"https://id.example","jwks_uri":"https://id.example/keys"})";
  for (const char* text : {R"({"keys":[]})", R"({"keys":[{"kty":"oct","k":"AAAA"}]})", "{}"}) {
    http_.pages[kJwks] = text;
    EXPECT_EQ(kid(keys()), "ISSUER_UNAVAILABLE") << text;
    world_.clock().advance(std::chrono::minutes{1});
  }
}

}  // namespace
}  // namespace presetbridge::identity
