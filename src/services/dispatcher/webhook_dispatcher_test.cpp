#include "services/dispatcher/webhook_dispatcher.h"

#include <future>
#include <thread>

#include "services/dispatcher/dispatcher_testing.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services::testing {
namespace {

using Kind = net::HttpFailure::Kind;

TEST_F(DispatcherTest, AnAttemptCarriesEveryHeaderAndBothSignaturesVerify) {
  const auto dispatch = publish({subscribe("https://shop.example/hook")});
  auto d = dispatcher();
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 1u);
  const auto& r = receiver_.requests[0];
  EXPECT_EQ(r.url, "https://shop.example/hook");
  EXPECT_EQ(r.method, "POST");
  EXPECT_EQ(r.policy, net::AddressPolicy::public_https);
  EXPECT_EQ(r.deadline, 15s);
  EXPECT_EQ(r.max_answer_bytes, 16'384u);
  EXPECT_EQ(header(r, "Content-Type"), "application/json");
  EXPECT_EQ(header(r, "X-Vendor-Event"), "delivery.completed");
  EXPECT_TRUE(crypto::verify_vendor_signature(kSecret, header(r, "X-Vendor-Signature"), r.body));
  const auto id = header(r, "webhook-id");
  EXPECT_TRUE(r.body.contains(id));
  EXPECT_EQ(crypto::verify_standard_signature(
                kSecret, {id, header(r, "webhook-timestamp"), header(r, "webhook-signature")}, r.body,
                db_.clock.now()),
            crypto::WebhookVerdict::valid);
  EXPECT_EQ(header(r, "X-Vendor-Signature-Previous"), "");
  EXPECT_EQ(state(dispatch).status, "succeeded");
  ASSERT_EQ(attempts(dispatch).size(), 1u);
  EXPECT_EQ(attempts(dispatch)[0].status_code, 200);
  EXPECT_EQ(attempts(dispatch)[0].outcome, "succeeded");
  EXPECT_EQ(attempts(dispatch)[0].answer, "ok");
  stop(*d);
}

TEST_F(DispatcherTest, ADispatchWhoseWakeUpWasLostIsFound) {
  const auto hook = subscribe("https://shop.example/hook");
  auto d = dispatcher();
  scheduler_.run();
  publish({hook});
  static constexpr storage::Sql kForget{"UPDATE webhook_subscriptions SET ready_at = NULL"};
  db_->write([](storage::Tx& tx) { tx.exec(kForget); });
  scheduler_.advance(10s);
  EXPECT_EQ(receiver_.requests.size(), 1u);
  stop(*d);
}

TEST_F(DispatcherTest, ADispatchThatWasCommittedLateIsFoundByAFullScan) {
  static constexpr storage::Sql kLate{
      "UPDATE webhook_subscriptions SET ready_at = 1 WHERE ready_at IS NOT NULL"};
  const auto subscription = subscribe("https://shop.example/hook");
  auto d = dispatcher();
  scheduler_.advance(1s);
  const auto dispatch = publish({subscription});
  db_->write([](storage::Tx& tx) { tx.exec(kLate); });
  d->wake();
  scheduler_.run();
  EXPECT_EQ(state(dispatch).status, "pending") << "behind where looks begin";
  scheduler_.advance(6s);
  EXPECT_EQ(state(dispatch).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, WhatAnotherNodeHoldsIsNotAskedForAgainAtOnce) {
  if (db_->engine() == "sqlite") return;  // one transaction writes at a time
  static constexpr storage::Sql kHold{"SELECT id FROM webhook_subscriptions WHERE id = $1 <for_update>"};
  const auto subscription = subscribe("https://shop.example/hook");
  const auto dispatch = publish({subscription});
  std::promise<void> held;
  std::promise<void> enough;
  std::thread other([&] {
    db_->write([&](storage::Tx& tx) {
      tx.query(kHold, subscription, [](const storage::Row&) {});
      held.set_value();
      enough.get_future().wait_for(5s);
    });
  });
  held.get_future().wait();
  auto d = dispatcher();
  const auto before = async_db_->stats().commits;
  scheduler_.advance(100ms);
  EXPECT_LE(async_db_->stats().commits - before, 15u);
  enough.set_value();
  other.join();
  scheduler_.advance(20ms);
  EXPECT_EQ(state(dispatch).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, InSandboxModeReceiversOnLoopbackAreAllowed) {
  publish({subscribe("http://127.0.0.1:9/hook")});
  auto d = dispatcher({.sandbox = true});
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 1u);
  EXPECT_EQ(receiver_.requests[0].policy, net::AddressPolicy::sandbox_receivers);
  stop(*d);
}

struct Case {
  net::HttpResult result;
  std::string status;
  std::string outcome;
};

TEST_F(DispatcherTest, EachAnswerHasItsMeaning) {
  const std::vector<Case> cases = {
      {FakeReceiver::status(200), "succeeded", "succeeded"},
      {FakeReceiver::status(299), "succeeded", "succeeded"},
      {FakeReceiver::status(301), "failed", "http_error"},
      {FakeReceiver::status(400), "failed", "http_error"},
      {FakeReceiver::status(404), "failed", "http_error"},
      {FakeReceiver::status(408), "pending", "http_error"},
      {FakeReceiver::status(410), "failed", "http_error"},
      {FakeReceiver::status(429), "pending", "http_error"},
      {FakeReceiver::status(500), "pending", "http_error"},
      {FakeReceiver::status(503), "pending", "http_error"},
      {FakeReceiver::failure(Kind::denied), "failed", "denied"},
      {FakeReceiver::failure(Kind::invalid), "failed", "invalid"},
      {FakeReceiver::failure(Kind::unresolved), "pending", "unresolved"},
      {FakeReceiver::failure(Kind::connect), "pending", "connect"},
      {FakeReceiver::failure(Kind::tls), "pending", "tls"},
      {FakeReceiver::failure(Kind::timeout), "pending", "timeout"},
      {FakeReceiver::failure(Kind::lost), "pending", "lost"},
  };
  auto d = dispatcher();
  for (const auto& c : cases) {
    receiver_.answer = [&](const auto&) { return c.result; };
    const auto dispatch = publish({subscribe("https://shop.example/hook")});
    d->wake();
    scheduler_.run();
    EXPECT_EQ(state(dispatch).status, c.status) << c.outcome;
    ASSERT_EQ(attempts(dispatch).size(), 1u);
    EXPECT_EQ(attempts(dispatch)[0].outcome, c.outcome);
    const auto* failure = c.result.failure();
    if (failure) {
      EXPECT_NE(attempts(dispatch)[0].answer, "");
      EXPECT_EQ(attempts(dispatch)[0].answer, failure->message) << "why there is no answer";
    }
    if (c.status == "pending") {
      EXPECT_EQ(state(dispatch).due_at, to_unix_ms(db_.clock.now()) + 60'000);
    }
  }
  stop(*d);
}

TEST_F(DispatcherTest, EveryRetrySendsTheSameBytesAndIdUntilTheScheduleIsExhausted) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(503, "busy"); };
  const auto dispatch = publish({subscribe("https://shop.example/hook")});
  auto d = dispatcher({.poll = 1h, .maintenance = 1h});
  const Timestamp begin = db_.clock.now();
  scheduler_.advance(36h);
  ASSERT_EQ(receiver_.requests.size(), 7u);
  const std::vector<Millis> due = {0min, 1min, 6min, 21min, 81min, 441min, 1881min};
  const auto made = attempts(dispatch);
  ASSERT_EQ(made.size(), 7u);
  for (std::size_t i = 0; i < due.size(); ++i) {
    const auto& r = receiver_.requests[i];
    EXPECT_EQ(r.body, receiver_.requests[0].body);
    EXPECT_EQ(header(r, "webhook-id"), header(receiver_.requests[0], "webhook-id"));
    EXPECT_TRUE(crypto::verify_vendor_signature(kSecret, header(r, "X-Vendor-Signature"), r.body));
    const Millis at = from_unix_ms(made[i].at) - begin;
    EXPECT_GE(at, due[i]);
    EXPECT_LE(at, due[i] + 100ms);
    EXPECT_EQ(header(r, "webhook-timestamp"), std::to_string(made[i].at / 1000));
  }
  EXPECT_EQ(state(dispatch).status, "exhausted");
  EXPECT_EQ(state(dispatch).attempts, 7);
  stop(*d);
}

TEST_F(DispatcherTest, GoneDeactivatesTheSubscriptionAndItsOtherAttemptsAreNotMade) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(410); };
  const auto subscription = subscribe("https://shop.example/hook");
  publish({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto later = publish({subscription});
  d->wake();
  scheduler_.advance(1h);
  EXPECT_EQ(receiver_.requests.size(), 1u);
  EXPECT_EQ(state(later).status, "pending");
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_subscriptions WHERE active = 0 AND deactivated_reason = "
                   "'receiver_gone'"}),
            1);
  stop(*d);
}

TEST_F(DispatcherTest, GoneOfAnOldAddressLeavesTheChangedSubscriptionActive) {
  receiver_.answer = [](const auto&) { return std::nullopt; };
  publish({subscribe("https://shop.example/old")});
  auto d = dispatcher();
  scheduler_.run();
  db_->write([](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET url = 'https://shop.example/new', version = version + 1"});
  });
  receiver_.end_all(FakeReceiver::status(410));
  scheduler_.run();
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_subscriptions WHERE active = 1"}), 1);
  stop(*d);
}

TEST_F(DispatcherTest, WhatWaitedWhileASubscriptionWasInactiveIsSentOnceItIsActiveAgain) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(503); };
  const auto subscription = subscribe("https://shop.example/hook");
  const auto dispatch = publish({subscription});
  auto d = dispatcher({.poll = 1h, .maintenance = 1h});
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 1u);
  Subscriptions subscriptions(*async_db_, ids_, random_, cipher_, net::AddressPolicy::public_https,
                              [&] { d->wake(); });
  const identity::Principal merchant{.account = kAccount, .permissions = identity::PermissionSet::all()};
  const auto activate = [&](bool active) {
    std::optional<bool> done;
    spawn(subscriptions.change(scheduler_, merchant, subscription, {.active = active}),
          [&](auto outcome) { done = outcome.value && outcome.value->has_value(); });
    scheduler_.run();
    ASSERT_EQ(done, true);
  };
  activate(false);
  scheduler_.advance(72h);
  EXPECT_EQ(receiver_.requests.size(), 1u) << "nothing is sent, and no try is spent";
  EXPECT_EQ(state(dispatch).attempts, 1);

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  activate(true);
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(receiver_.requests[0].body, receiver_.requests[1].body);
  EXPECT_EQ(state(dispatch).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, AnAttemptWhoseResultWasNeverRecordedIsMadeAgainWithTheSameId) {
  receiver_.answer = [](const auto&) { return std::nullopt; };
  const auto dispatch = publish({subscribe("https://shop.example/hook")});
  auto crashed = dispatcher();
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 1u);
  EXPECT_EQ(state(dispatch).status, "leased");

  // The lease runs out without a word of the first process; its late answer is refused.
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  scheduler_.advance(46s);
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(receiver_.requests[0].body, receiver_.requests[1].body);
  EXPECT_EQ(header(receiver_.requests[0], "webhook-id"), header(receiver_.requests[1], "webhook-id"));
  EXPECT_EQ(state(dispatch).status, "succeeded");
  receiver_.end_all(FakeReceiver::status(500));
  scheduler_.advance(1s);
  EXPECT_EQ(state(dispatch).status, "succeeded");
  EXPECT_EQ(attempts(dispatch).size(), 1u);
  stop(*crashed);
}

TEST_F(DispatcherTest, WhateverAnAttemptThrowsEndsThatAttemptAloneAndItIsMadeAgain) {
  const auto broken = subscribe("https://broken.example/hook");
  const auto lost = publish({broken});
  const auto lost_too = publish({broken});
  const auto fine = publish({subscribe("https://fine.example/hook")});
  int thrown = 0;
  receiver_.answer = [&](const net::OutgoingRequest& request) -> std::optional<net::HttpResult> {
    if (request.url.contains("fine") || thrown == 2) return FakeReceiver::status(200);
    if (++thrown == 1) throw Error{"INTERNAL_ERROR", "an error of ours", {}};
    throw 7;
  };
  auto d = dispatcher({.per_host = 2});
  scheduler_.run();
  EXPECT_EQ(thrown, 2);
  EXPECT_EQ(metrics_.counted["presetbridge_dispatcher_faults_total"], 2);
  EXPECT_TRUE(
      log_.text.contains("a task of the webhook dispatcher failed task=send error=an error of ours\n"))
      << log_.text;
  EXPECT_EQ(state(fine).status, "succeeded");
  scheduler_.advance(60s);
  EXPECT_EQ(state(lost).status, "succeeded") << "when its lease has run out";
  EXPECT_EQ(state(lost_too).status, "succeeded") << "its place at the host is free again";
  stop(*d);
}

TEST_F(DispatcherTest, ShutdownReleasesWhatWasAbortedAndItKeepsItsIdAndAttempts) {
  receiver_.answer = [](const auto&) { return std::nullopt; };
  const auto dispatch = publish({subscribe("https://shop.example/hook")});
  auto first = dispatcher();
  scheduler_.run();
  stop(*first);
  EXPECT_EQ(state(dispatch).status, "pending");
  EXPECT_EQ(state(dispatch).attempts, 0);
  EXPECT_TRUE(attempts(dispatch).empty());

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  auto second = dispatcher();
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(header(receiver_.requests[0], "webhook-id"), header(receiver_.requests[1], "webhook-id"));
  EXPECT_EQ(state(dispatch).status, "succeeded");
  stop(*second);
}

TEST_F(DispatcherTest, OneEventReachesEverySubscription) {
  std::vector<SubscriptionId> subscriptions;
  for (int i = 0; i < 30; ++i)
    subscriptions.push_back(subscribe("https://shop.example/" + std::to_string(i)));
  publish(subscriptions);
  auto d = dispatcher({.batch = 7});
  scheduler_.run();
  std::set<std::string> urls;
  for (const auto& r : receiver_.requests) urls.insert(r.url);
  EXPECT_EQ(urls.size(), 30u);
  EXPECT_EQ(receiver_.requests.size(), 30u);
  stop(*d);
}

TEST_F(DispatcherTest, ALeaseShorterThanACallIsRefused) {
  EXPECT_THROW(dispatcher({.deadline = 15s, .lease = 15s}), std::invalid_argument);
}

}  // namespace
}  // namespace presetbridge::services::testing
