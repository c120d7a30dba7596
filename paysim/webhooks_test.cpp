#include "webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing.h"

namespace presetbridge::paysim {
namespace {

using ::testing::ElementsAre;

// An endpoint: what was posted to it, and how it answers.
class FakeEndpoint final : public net::HttpClient {
 public:
  struct Post {
    Timestamp at;
    net::OutgoingRequest request;
  };
  explicit FakeEndpoint(const Clock& clock) : clock_(clock) {}
  Task<net::HttpResult> send(Executor&, net::OutgoingRequest request) override {
    posts.push_back({clock_.now(), std::move(request)});
    co_return net::HttpResult{.outcome = net::HttpAnswer{.status = status, .headers = {}, .body = {}}};
  }
  std::vector<std::string> bodies() const {
    std::vector<std::string> result;
    for (const auto& post : posts) result.push_back(post.request.body);
    return result;
  }
  int status = 200;
  std::vector<Post> posts;

 private:
  const Clock& clock_;
};

std::shared_ptr<const Event> event(const std::string& id) {
  return std::make_shared<Event>(id, "checkout.session.completed", Timestamp{}, id);
}

class Webhooks : public ::testing::Test {
 protected:
  ~Webhooks() override {
    sender.stop([] {});
    scheduler.run();
  }
  WebhookOptions options() {
    WebhookOptions result;
    result.url = "http://127.0.0.1:1/hook";
    result.secrets = {"whsec_1"};
    result.retry_after = {Millis{1'000}, Millis{5'000}};
    return result;
  }
  void with(WebhookFaults faults) {
    auto changed = options();
    changed.faults = faults;
    sender.configure(std::move(changed));
  }

  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler scheduler{clock};
  FakeEndpoint endpoint{clock};
  NullLog log;
  WebhookSender sender{scheduler, clock, endpoint, log, 1, options()};
};

// Of Stripe's scheme, computed with openssl: HMAC-SHA256 of "1790000000.{}" with the secret's text.
TEST(StripeSignature, IsOfTheDocumentedForm) {
  const auto header = stripe_signature("{}", {"whsec_a", "whsec_b"}, from_unix_ms(1'790'000'000'999));
  EXPECT_EQ(header,
            "t=1790000000,v1=b0e0b767942dc92d7d33db2656a7f737b9c62979efcf3b62aa5a03deb17bee00,v1="
            "9fd5f486ef1336b145d03e7fe4527a13c4e744b4532eda37aa6b45fa1050e869");
}

TEST(StripeSignature, EndpointsAreOnLoopback) {
  for (const auto* good : {"http://127.0.0.1:8080/hook", "http://[::1]/hook", "http://localhost:1/"}) {
    EXPECT_EQ(problem_of_endpoint(good), "") << good;
  }
  for (const auto* bad :
       {"https://127.0.0.1/", "http://192.0.2.1/", "http://10.0.0.1/", "http://example.com/",
        "http://0x7f.1@10.0.0.1/", "ftp://127.0.0.1/", "nonsense", ""}) {
    EXPECT_NE(problem_of_endpoint(bad), "") << bad;
  }
}

TEST_F(Webhooks, WhatIsNotTakenIsSentAgainAndSignedAnewUntilItIsGivenUp) {
  endpoint.status = 503;
  sender.send(event("evt_1"));
  EXPECT_TRUE(sender.pending(*event("evt_1")));
  const Timestamp begun = clock.now();
  scheduler.advance(Millis{60'000});
  ASSERT_EQ(endpoint.posts.size(), 3U);
  EXPECT_EQ(endpoint.posts[1].at - begun, Millis{1'000});
  EXPECT_EQ(endpoint.posts[2].at - begun, Millis{6'000});
  for (const auto& post : endpoint.posts) {
    EXPECT_EQ(post.request.policy, net::AddressPolicy::sandbox_receivers);
    const auto header = stripe_signature("evt_1", {"whsec_1"}, post.at);
    EXPECT_THAT(post.request.headers, ::testing::Contains(std::pair("Stripe-Signature", header)));
  }
  EXPECT_EQ(sender.counts().given_up, 1);
  EXPECT_EQ(sender.pending(), 0U);
}

TEST_F(Webhooks, AnAnswerEndsIt) {
  sender.send(event("evt_1"));
  scheduler.advance(Millis{60'000});
  EXPECT_THAT(endpoint.bodies(), ElementsAre("evt_1"));
  EXPECT_EQ(sender.counts().taken, 1);
  EXPECT_FALSE(sender.pending(*event("evt_1")));
}

TEST_F(Webhooks, AnEventIsOvertakenByTheNext) {
  with({.reorder = 1});
  sender.send(event("evt_1"));
  scheduler.advance(Millis{1'000});
  EXPECT_THAT(endpoint.bodies(), ElementsAre());
  with({.delay_min = Millis{500}, .delay_max = Millis{500}});
  sender.send(event("evt_2"));
  scheduler.advance(Millis{60'000});
  EXPECT_THAT(endpoint.bodies(), ElementsAre("evt_2", "evt_1"));
}

TEST_F(Webhooks, AnEventThatNobodyOvertakesIsSentAllTheSame) {
  with({.reorder = 1});
  sender.send(event("evt_1"));
  scheduler.advance(Millis{2'000});
  EXPECT_THAT(endpoint.bodies(), ElementsAre("evt_1"));
}

TEST_F(Webhooks, FaultsAreDrawnFromTheSeed) {
  with({.drop = 0.3, .duplicate = 0.5});
  for (int i = 0; i < 1'000; ++i) sender.send(event("evt_" + std::to_string(i)));
  scheduler.advance(Millis{60'000});
  EXPECT_NEAR(sender.counts().dropped, 300, 50);
  EXPECT_NEAR(static_cast<double>(endpoint.posts.size()), 700 * 1.5, 100);
  EXPECT_EQ(sender.pending(), 0U);
}

TEST_F(Webhooks, NoMoreWaitsThanThereIsRoomFor) {
  with({.delay_min = Millis{10'000}, .delay_max = Millis{10'000}});
  const auto one = event("evt_1");
  for (std::size_t i = 0; i < WebhookSender::most_waiting + 5; ++i) sender.send(one);
  EXPECT_EQ(sender.pending(), WebhookSender::most_waiting);
  EXPECT_EQ(sender.counts().overflow, 5);
  sender.clear();
  EXPECT_EQ(sender.pending(), 0U);
  scheduler.advance(Millis{60'000});
  EXPECT_TRUE(endpoint.posts.empty());
}

TEST_F(Webhooks, WithoutAnEndpointNothingWaits) {
  sender.configure({});
  sender.send(event("evt_1"));
  sender.resend(event("evt_1"));
  EXPECT_EQ(sender.pending(), 0U);
}

}  // namespace
}  // namespace presetbridge::paysim
