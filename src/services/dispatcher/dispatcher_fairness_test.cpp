// Shares of the slots for attempts: a slow receiver, host or account holds up no other (spec 8.6, 10.6).
#include "services/dispatcher/dispatcher_testing.h"
#include "services/dispatcher/webhook_dispatcher.h"

namespace presetbridge::services::testing {
namespace {

using Kind = net::HttpFailure::Kind;

TEST_F(DispatcherTest, ADeadReceiverHoldsUpNobodyElse) {
  const auto dead = subscribe("https://dead.example/hook");
  const auto quick = subscribe("https://quick.example/hook");
  receiver_.answer = [](const net::OutgoingRequest& r) -> std::optional<net::HttpResult> {
    if (r.url.contains("dead")) return std::nullopt;
    return FakeReceiver::status(200);
  };
  for (int i = 0; i < 200; ++i) publish({dead});
  std::vector<std::int64_t> dispatches;
  for (int i = 0; i < 100; ++i) dispatches.push_back(publish({quick}));
  auto d = dispatcher({.max_under_way = 64, .batch = 64});
  scheduler_.run();
  EXPECT_EQ(receiver_.open(), 16u);
  for (const auto dispatch : dispatches) EXPECT_EQ(state(dispatch).status, "succeeded");

  // Once it has cost timeouts it gets one slot, until it answers.
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
  publish({dead, slow});
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
    for (int n = 0; n < 10; ++n) slow.push_back(publish({subscription}));
  }
  scheduler_.advance(1s);
  const auto quick = subscribe("https://quick.example/hook");
  std::vector<std::int64_t> dispatches;
  for (int i = 0; i < 100; ++i) dispatches.push_back(publish({quick}));
  auto d = dispatcher({.max_under_way = 64, .batch = 64, .per_host = 32});
  scheduler_.run();
  EXPECT_EQ(receiver_.open(), 32u);
  for (const auto dispatch : dispatches) EXPECT_EQ(state(dispatch).status, "succeeded");

  // Each answer makes room for one that was put off, at once: nothing waits for a poll.
  std::set<std::string> served;
  for (int i = 0; i < 20 && receiver_.open() > 0; ++i) {
    receiver_.end_all(FakeReceiver::status(200));
    scheduler_.advance(1ms);
    EXPECT_LE(receiver_.open(), 32u);
  }
  for (const auto dispatch : slow) EXPECT_EQ(state(dispatch).status, "succeeded");
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
    for (int n = 0; n < 30; ++n) publish({id});
  }
  auto d = dispatcher({.max_under_way = 64, .batch = 64, .lease = std::chrono::hours{2}});
  scheduler_.advance(5s);
  EXPECT_EQ(receiver_.open(), 48U)
      << "alone: of all but an eighth, those that are not kept, and one for each that has none";

  const auto theirs = subscribe("https://theirs.example/hook", {}, {}, other);
  publish({theirs});
  d->wake();
  scheduler_.advance(1s);
  EXPECT_EQ(receiver_.requests.back().url, "https://theirs.example/hook");
  EXPECT_EQ(receiver_.requests.back().owner, to_string(other)) << "look-ups of names are shared by account";
  EXPECT_EQ(receiver_.open(), 49U);

  // All are answered; both want slots from now on.
  std::vector<SubscriptionId> all_of_theirs;
  for (int i = 0; i < 5; ++i)
    all_of_theirs.push_back(subscribe("https://theirs" + std::to_string(i) + ".example/hook", {}, {}, other));
  for (const auto id : all_of_theirs) {
    for (int n = 0; n < 20; ++n) publish({id});
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
  for (int n = 0; n < 100; ++n) publish({theirs});
  const auto slow = subscribe("https://slow.example/hook");
  for (int n = 0; n < 100; ++n) publish({slow});
  auto d = dispatcher({.max_under_way = 64, .batch = 64, .lease = std::chrono::hours{2}});
  scheduler_.advance(5s);
  ASSERT_EQ(receiver_.open(), 12U) << "of eight places each, two are kept";

  const auto quick = subscribe("https://quick.example/hook");
  std::vector<std::int64_t> dispatches;
  for (int n = 0; n < 50; ++n) dispatches.push_back(publish({quick}));
  d->wake();
  scheduler_.advance(10ms);
  for (const auto dispatch : dispatches) ASSERT_EQ(state(dispatch).status, "succeeded");
  EXPECT_EQ(receiver_.open(), 12U);

  // A second slow one takes a slot that is reserved, and no more.
  const auto second = subscribe("https://slow2.example/hook");
  for (int n = 0; n < 20; ++n) publish({second});
  d->wake();
  scheduler_.advance(1s);
  EXPECT_EQ(receiver_.open(), 13U);

  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  receiver_.end_all(FakeReceiver::status(200));
  scheduler_.advance(5s);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_sends WHERE status = 'succeeded'"}), 100 + 100 + 50 + 20);
  stop(*d);
}

}  // namespace
}  // namespace presetbridge::services::testing
