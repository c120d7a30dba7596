#include "services/dispatcher/webhook_dispatcher.h"

#include <future>
#include <thread>

#include "domain/send_schedule.h"
#include "services/dispatcher/dispatcher_testing.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services::testing {
namespace {

using Kind = net::HttpFailure::Kind;

TEST_F(DispatcherTest, ASendCarriesEveryHeaderAndBothSignaturesVerify) {
  const auto send = tell({subscribe("https://shop.example/hook")});
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
  EXPECT_EQ(state(send).status, "succeeded");
  ASSERT_EQ(attempts(send).size(), 1u);
  EXPECT_EQ(attempts(send)[0].status_code, 200);
  EXPECT_EQ(attempts(send)[0].outcome, "succeeded");
  EXPECT_EQ(attempts(send)[0].answer, "ok");
  stop(*d);
}

TEST_F(DispatcherTest, ASendWhoseWakeUpWasLostIsFound) {
  const auto hook = subscribe("https://shop.example/hook");
  auto d = dispatcher();
  scheduler_.run();
  tell({hook});
  static constexpr storage::Sql kForget{"UPDATE webhook_subscriptions SET ready_at = NULL"};
  db_->write([](storage::Tx& tx) { tx.exec(kForget); });
  scheduler_.advance(10s);
  EXPECT_EQ(receiver_.requests.size(), 1u);
  stop(*d);
}

TEST_F(DispatcherTest, ASendThatWasCommittedLateIsFoundByALookAtEverything) {
  static constexpr storage::Sql kLate{
      "UPDATE webhook_subscriptions SET ready_at = 1 WHERE ready_at IS NOT NULL"};
  const auto subscription = subscribe("https://shop.example/hook");
  auto d = dispatcher();
  scheduler_.advance(1s);
  const auto send = tell({subscription});
  db_->write([](storage::Tx& tx) { tx.exec(kLate); });
  d->wake();
  scheduler_.run();
  EXPECT_EQ(state(send).status, "pending") << "behind where looks begin";
  scheduler_.advance(6s);
  EXPECT_EQ(state(send).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, WhatAnotherNodeHoldsIsNotAskedForAgainAtOnce) {
  if (db_->engine() == "sqlite") return;  // one transaction writes at a time
  static constexpr storage::Sql kHold{"SELECT id FROM webhook_subscriptions WHERE id = $1 <for_update>"};
  const auto subscription = subscribe("https://shop.example/hook");
  const auto send = tell({subscription});
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
  EXPECT_EQ(state(send).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, InSandboxModeReceiversOnLoopbackAreAllowed) {
  tell({subscribe("http://127.0.0.1:9/hook")});
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
    const auto send = tell({subscribe("https://shop.example/hook")});
    d->wake();
    scheduler_.run();
    EXPECT_EQ(state(send).status, c.status) << c.outcome;
    ASSERT_EQ(attempts(send).size(), 1u);
    EXPECT_EQ(attempts(send)[0].outcome, c.outcome);
    const auto* failure = c.result.failure();
    if (failure) {
      EXPECT_NE(attempts(send)[0].answer, "");
      EXPECT_EQ(attempts(send)[0].answer, failure->message) << "why there is no answer";
    }
    if (c.status == "pending") {
      EXPECT_EQ(state(send).due_at, to_unix_ms(db_.clock.now()) + 60'000);
    }
  }
  stop(*d);
}

TEST_F(DispatcherTest, EveryRetrySendsTheSameBytesAndIdUntilTheScheduleIsExhausted) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(503, "busy"); };
  const auto send = tell({subscribe("https://shop.example/hook")});
  auto d = dispatcher({.poll = 1h, .maintenance = 1h});
  const Timestamp begin = db_.clock.now();
  scheduler_.advance(36h);
  ASSERT_EQ(receiver_.requests.size(), 7u);
  const std::vector<Millis> due = {0min, 1min, 6min, 21min, 81min, 441min, 1881min};
  const auto made = attempts(send);
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
  EXPECT_EQ(state(send).status, "exhausted");
  EXPECT_EQ(state(send).attempts, 7);
  stop(*d);
}

TEST_F(DispatcherTest, GoneDeactivatesTheSubscriptionAndItsOtherSendsAreNotMade) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(410); };
  const auto subscription = subscribe("https://shop.example/hook");
  tell({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto later = tell({subscription});
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
  tell({subscribe("https://shop.example/old")});
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

TEST_F(DispatcherTest, ADeadReceiverHoldsUpNobodyElse) {
  const auto dead = subscribe("https://dead.example/hook");
  const auto quick = subscribe("https://quick.example/hook");
  receiver_.answer = [](const net::OutgoingRequest& r) -> std::optional<net::HttpResult> {
    if (r.url.contains("dead")) return std::nullopt;
    return FakeReceiver::status(200);
  };
  for (int i = 0; i < 200; ++i) tell({dead});
  std::vector<std::int64_t> sends;
  for (int i = 0; i < 100; ++i) sends.push_back(tell({quick}));
  auto d = dispatcher({.max_sends = 64, .batch = 64});
  scheduler_.run();
  EXPECT_EQ(receiver_.open(), 16u);
  for (const auto send : sends) EXPECT_EQ(state(send).status, "succeeded");

  // Once it has cost timeouts it gets one place, until it answers.
  receiver_.end_all(FakeReceiver::failure(Kind::timeout));
  scheduler_.advance(2s);
  EXPECT_EQ(receiver_.open(), 1u);
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  receiver_.end_all(FakeReceiver::status(200));
  scheduler_.advance(2s);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_sends WHERE status = 'succeeded'"}), 284);
  stop(*d);
}

TEST_F(DispatcherTest, AReceiverThatWasTurnedOffCountsNoMoreAmongThoseThatDoNotAnswer) {
  const auto& not_answering = metrics_.gauges["presetbridge_receivers_not_answering"];
  receiver_.answer = [](const auto&) { return FakeReceiver::failure(Kind::timeout); };
  const auto dead = subscribe("https://dead.example/hook");
  const auto slow = subscribe("https://slow.example/hook");
  tell({dead, slow});
  auto d = dispatcher();
  scheduler_.advance(2min);
  EXPECT_EQ(not_answering, 2);
  db_->write(
      [&](storage::Tx& tx) { tx.exec({"UPDATE webhook_subscriptions SET active = 0 WHERE id = $1"}, dead); });
  scheduler_.advance(2min);
  EXPECT_EQ(not_answering, 1);
  stop(*d);
}

TEST_F(DispatcherTest, AHostOfManySubscriptionsHoldsUpNoOtherAndServesThemInTurn) {
  receiver_.answer = [](const net::OutgoingRequest& r) -> std::optional<net::HttpResult> {
    if (r.url.contains("slow")) return std::nullopt;
    return FakeReceiver::status(200);
  };
  std::vector<std::int64_t> slow;
  for (int i = 0; i < 40; ++i) {
    const auto subscription = subscribe("https://slow.example/" + std::to_string(i));
    for (int n = 0; n < 10; ++n) slow.push_back(tell({subscription}));
  }
  scheduler_.advance(1s);
  const auto quick = subscribe("https://quick.example/hook");
  std::vector<std::int64_t> sends;
  for (int i = 0; i < 100; ++i) sends.push_back(tell({quick}));
  auto d = dispatcher({.max_sends = 64, .batch = 64, .per_host = 32});
  scheduler_.run();
  EXPECT_EQ(receiver_.open(), 32u);
  for (const auto send : sends) EXPECT_EQ(state(send).status, "succeeded");

  // Each answer makes room for one that was put off, at once: nothing waits for a poll.
  std::set<std::string> served;
  for (int i = 0; i < 20 && receiver_.open() > 0; ++i) {
    receiver_.end_all(FakeReceiver::status(200));
    scheduler_.advance(1ms);
    EXPECT_LE(receiver_.open(), 32u);
  }
  for (const auto send : slow) EXPECT_EQ(state(send).status, "succeeded");
  stop(*d);
}

// Spec 8.6: as many receivers as an account may have, none of which answers.
TEST_F(DispatcherTest, AnAccountHasAnEighthOfThePlacesWhileAnotherWantsThemAndNeverTheLastEighth) {
  const AccountId other{8};
  db_->write([&](storage::Tx& tx) { insert_account(tx, other, "another merchant"); });
  receiver_.answer = [](const auto&) { return std::nullopt; };
  std::vector<SubscriptionId> mine;
  for (int i = 0; i < 20; ++i)
    mine.push_back(subscribe("https://mine" + std::to_string(i) + ".example/hook"));
  for (const auto id : mine) {
    for (int n = 0; n < 30; ++n) tell({id});
  }
  auto d = dispatcher({.max_sends = 64, .batch = 64, .lease = std::chrono::hours{2}});
  scheduler_.advance(5s);
  EXPECT_EQ(receiver_.open(), 48U)
      << "alone: of all but an eighth, those that are not kept, and one for each that has none";

  const auto theirs = subscribe("https://theirs.example/hook", {}, {}, other);
  tell({theirs});
  d->wake();
  scheduler_.advance(1s);
  EXPECT_EQ(receiver_.requests.back().url, "https://theirs.example/hook");
  EXPECT_EQ(receiver_.requests.back().owner, to_string(other)) << "look-ups of names are shared by account";
  EXPECT_EQ(receiver_.open(), 49U);

  // All are answered; both want places from now on.
  std::vector<SubscriptionId> all_of_theirs;
  for (int i = 0; i < 5; ++i)
    all_of_theirs.push_back(subscribe("https://theirs" + std::to_string(i) + ".example/hook", {}, {}, other));
  for (const auto id : all_of_theirs) {
    for (int n = 0; n < 20; ++n) tell({id});
  }
  scheduler_.advance(1ms);
  receiver_.end_all(FakeReceiver::status(200));
  d->wake();
  scheduler_.advance(5s);
  EXPECT_EQ(receiver_.open(), 14U) << "an eighth each; theirs are five, and none of them is without a place";

  // Each answer makes room for what was put off, until all is sent.
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  receiver_.end_all(FakeReceiver::status(200));
  scheduler_.advance(5s);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_sends WHERE status = 'succeeded'"}), 20 * 30 + 1 + 5 * 20);
  stop(*d);
}

// Spec 10.6: within one account, while others of it are slow.
TEST_F(DispatcherTest, SlowSubscriptionsLeaveAPlaceOfTheirAccountToEachThatHasNone) {
  const AccountId other{8};
  db_->write([&](storage::Tx& tx) { insert_account(tx, other, "another merchant"); });
  receiver_.answer = [](const net::OutgoingRequest& r) -> std::optional<net::HttpResult> {
    if (r.url.contains("quick")) return FakeReceiver::status(200);
    return std::nullopt;
  };
  const auto theirs = subscribe("https://theirs.example/hook", {}, {}, other);
  for (int n = 0; n < 100; ++n) tell({theirs});
  const auto slow = subscribe("https://slow.example/hook");
  for (int n = 0; n < 100; ++n) tell({slow});
  auto d = dispatcher({.max_sends = 64, .batch = 64, .lease = std::chrono::hours{2}});
  scheduler_.advance(5s);
  ASSERT_EQ(receiver_.open(), 12U) << "of eight places each, two are kept";

  const auto quick = subscribe("https://quick.example/hook");
  std::vector<std::int64_t> sends;
  for (int n = 0; n < 50; ++n) sends.push_back(tell({quick}));
  d->wake();
  scheduler_.advance(10ms);
  for (const auto send : sends) ASSERT_EQ(state(send).status, "succeeded");
  EXPECT_EQ(receiver_.open(), 12U);

  // A second slow one takes a place that is kept, and no more.
  const auto second = subscribe("https://slow2.example/hook");
  for (int n = 0; n < 20; ++n) tell({second});
  d->wake();
  scheduler_.advance(1s);
  EXPECT_EQ(receiver_.open(), 13U);

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  receiver_.end_all(FakeReceiver::status(200));
  scheduler_.advance(5s);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_sends WHERE status = 'succeeded'"}), 100 + 100 + 50 + 20);
  stop(*d);
}

TEST_F(DispatcherTest, WhatWaitedWhileASubscriptionWasInactiveIsSentOnceItIsActiveAgain) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(503); };
  const auto subscription = subscribe("https://shop.example/hook");
  const auto send = tell({subscription});
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
  EXPECT_EQ(state(send).attempts, 1);

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  activate(true);
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(receiver_.requests[0].body, receiver_.requests[1].body);
  EXPECT_EQ(state(send).status, "succeeded");
  stop(*d);
}

TEST_F(DispatcherTest, ASendWhoseResultWasNeverRecordedIsMadeAgainWithTheSameId) {
  receiver_.answer = [](const auto&) { return std::nullopt; };
  const auto send = tell({subscribe("https://shop.example/hook")});
  auto crashed = dispatcher();
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 1u);
  EXPECT_EQ(state(send).status, "leased");

  // The lease runs out without a word of the first process; its late answer is refused.
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  scheduler_.advance(46s);
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(receiver_.requests[0].body, receiver_.requests[1].body);
  EXPECT_EQ(header(receiver_.requests[0], "webhook-id"), header(receiver_.requests[1], "webhook-id"));
  EXPECT_EQ(state(send).status, "succeeded");
  receiver_.end_all(FakeReceiver::status(500));
  scheduler_.advance(1s);
  EXPECT_EQ(state(send).status, "succeeded");
  EXPECT_EQ(attempts(send).size(), 1u);
  stop(*crashed);
}

TEST_F(DispatcherTest, WhateverASendThrowsEndsThatSendAloneAndItIsMadeAgain) {
  const auto broken = subscribe("https://broken.example/hook");
  const auto lost = tell({broken});
  const auto lost_too = tell({broken});
  const auto fine = tell({subscribe("https://fine.example/hook")});
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
  const auto send = tell({subscribe("https://shop.example/hook")});
  auto first = dispatcher();
  scheduler_.run();
  stop(*first);
  EXPECT_EQ(state(send).status, "pending");
  EXPECT_EQ(state(send).attempts, 0);
  EXPECT_TRUE(attempts(send).empty());

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  auto second = dispatcher();
  scheduler_.run();
  ASSERT_EQ(receiver_.requests.size(), 2u);
  EXPECT_EQ(header(receiver_.requests[0], "webhook-id"), header(receiver_.requests[1], "webhook-id"));
  EXPECT_EQ(state(send).status, "succeeded");
  stop(*second);
}

TEST_F(DispatcherTest, DuringARotationBothSecretsSignAndAfterItOnlyTheNew) {
  const auto subscription =
      subscribe("https://shop.example/hook", std::string(kOldSecret), db_.clock.now() + 1h);
  tell({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto& r = receiver_.requests.at(0);
  EXPECT_TRUE(crypto::verify_vendor_signature(kSecret, header(r, "X-Vendor-Signature"), r.body));
  EXPECT_TRUE(crypto::verify_vendor_signature(kOldSecret, header(r, "X-Vendor-Signature-Previous"), r.body));
  for (const auto secret : {kSecret, kOldSecret}) {
    EXPECT_EQ(
        crypto::verify_standard_signature(
            secret, {header(r, "webhook-id"), header(r, "webhook-timestamp"), header(r, "webhook-signature")},
            r.body, db_.clock.now()),
        crypto::WebhookVerdict::valid);
  }
  scheduler_.advance(1h);
  tell({subscription});
  d->wake();
  scheduler_.run();
  const auto& after = receiver_.requests.at(1);
  EXPECT_EQ(header(after, "X-Vendor-Signature-Previous"), "");
  EXPECT_FALSE(header(after, "webhook-signature").contains(' '));
  stop(*d);
}

TEST_F(DispatcherTest, DuringTwoRotationsAllThreeSecretsSignEachUntilItsOwnEnd) {
  constexpr std::string_view kOldest = "whsec_d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3";
  const auto subscription =
      subscribe("https://shop.example/hook", std::string(kOldSecret), db_.clock.now() + 1h);
  const auto oldest = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldest);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_older_secret = $1, older_secret_expires_at = $2"},
            storage::Blob(oldest), tx.now() + 2h);
  });
  auto d = dispatcher();
  // The secret whose two signatures verify, that of the header among them.
  const auto signed_by = [&](std::string_view name) -> std::string_view {
    const auto& r = receiver_.requests.back();
    for (const auto secret : {kSecret, kOldSecret, kOldest}) {
      const auto standard = crypto::verify_standard_signature(
          secret, {header(r, "webhook-id"), header(r, "webhook-timestamp"), header(r, "webhook-signature")},
          r.body, db_.clock.now());
      if (crypto::verify_vendor_signature(secret, header(r, name), r.body) &&
          standard == crypto::WebhookVerdict::valid)
        return secret;
    }
    return "";
  };
  const auto expect_signed = [&](std::string_view previous, std::string_view older) {
    tell({subscription});
    d->wake();
    scheduler_.run();
    EXPECT_EQ(signed_by("X-Vendor-Signature"), kSecret);
    EXPECT_EQ(signed_by("X-Vendor-Signature-Previous"), previous);
    EXPECT_EQ(signed_by("X-Vendor-Signature-Older"), older);
    const auto spaces = std::ranges::count(header(receiver_.requests.back(), "webhook-signature"), ' ');
    EXPECT_EQ(spaces, (previous.empty() ? 0 : 1) + (older.empty() ? 0 : 1));
  };
  expect_signed(kOldSecret, kOldest);
  scheduler_.advance(1h);
  expect_signed(kOldest, "");
  scheduler_.advance(1h);
  expect_signed("", "");
  EXPECT_EQ(receiver_.requests.size(), 3u);
  stop(*d);
}

TEST_F(DispatcherTest, TheOlderSecretDoesNotOutliveARotationOfAnOlderNodeThatEndsAllFormerOnes) {
  const auto subscription = subscribe("https://shop.example/hook");
  const auto older = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_older_secret = $1, older_secret_expires_at = $2"},
            storage::Blob(older), tx.now() + 2h);
  });
  tell({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto& r = receiver_.requests.at(0);
  EXPECT_EQ(header(r, "X-Vendor-Signature-Previous"), "");
  EXPECT_EQ(header(r, "X-Vendor-Signature-Older"), "");
  EXPECT_FALSE(header(r, "webhook-signature").contains(' '));
  stop(*d);
}

TEST_F(DispatcherTest, ARotatedSecretIsUsedAtOnce) {
  const auto subscription = subscribe("https://shop.example/hook");
  tell({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto fresh = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_secret = $1, version = version + 1"},
            storage::Blob(fresh));
  });
  tell({subscription});
  d->wake();
  scheduler_.run();
  const auto& r = receiver_.requests.at(1);
  EXPECT_TRUE(crypto::verify_vendor_signature(kOldSecret, header(r, "X-Vendor-Signature"), r.body));
  stop(*d);
}

TEST_F(DispatcherTest, NothingSecretIsLoggedWhenSendsFail) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(500); };
  tell({subscribe("https://shop.example/hook?token=in-the-address", std::string(kOldSecret),
                  db_.clock.now() + 1h)});
  auto d = dispatcher();
  scheduler_.run();
  EXPECT_TRUE(log_.text.contains("a webhook was not delivered"));
  EXPECT_TRUE(log_.text.contains("http_error"));
  EXPECT_FALSE(log_.text.contains("whsec_"));
  EXPECT_FALSE(log_.text.contains(kSecret.substr(6)));
  EXPECT_FALSE(log_.text.contains(kOldSecret.substr(6)));
  EXPECT_FALSE(log_.text.contains("in-the-address"));
  stop(*d);
}

TEST_F(DispatcherTest, ASecretThatCannotBeDecryptedSendsNothingAndIsTriedLater) {
  const auto subscription = subscribe("https://shop.example/hook");
  const auto misplaced = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value + 1}, kSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_secret = $1"}, storage::Blob(misplaced));
  });
  const auto send = tell({subscription});
  auto d = dispatcher();
  scheduler_.run();
  EXPECT_TRUE(receiver_.requests.empty());
  EXPECT_EQ(state(send).status, "pending");
  ASSERT_EQ(attempts(send).size(), 1u);
  EXPECT_EQ(attempts(send)[0].outcome, "unsigned");
  EXPECT_EQ(attempts(send)[0].answer, "the event could not be signed");
  stop(*d);
}

TEST_F(DispatcherTest, OneEventReachesEverySubscription) {
  std::vector<SubscriptionId> subscriptions;
  for (int i = 0; i < 30; ++i)
    subscriptions.push_back(subscribe("https://shop.example/" + std::to_string(i)));
  tell(subscriptions);
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
