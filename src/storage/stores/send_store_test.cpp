#include "storage/stores/send_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <array>

#include "storage/stores/account_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using namespace std::chrono_literals;

constexpr AccountId kAccount{1};
constexpr Sql kInsertSubscription{
    "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, "
    "created_at)"
    " VALUES ($1, $2, 'https://shop.example/', $3, '', '', $4)"};
constexpr Sql kReadStatus{"SELECT status FROM webhook_sends WHERE id = $1"};
constexpr Sql kReadAnswer{"SELECT answer FROM webhook_attempts WHERE send_id = $1"};
constexpr Sql kCountAttempts{"SELECT count(*) FROM webhook_attempts"};

class SendStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  SendStoreTest() {
    db_->write([](Tx& tx) { insert_account(tx, kAccount, "a merchant"); });
  }
  void subscribe(std::int64_t id) {
    const std::vector<std::byte> secret(3);
    db_->write([&](Tx& tx) { tx.exec(kInsertSubscription, id, kAccount, Blob(secret), tx.now()); });
  }
  // `count` events for the subscription, with dispatches first_send, first_send + 1, ...
  void tell(std::int64_t subscription, std::int64_t first_send, int count) {
    db_->write([&](Tx& tx) {
      for (std::int64_t id = first_send; id < first_send + count; ++id) {
        insert_events(tx, std::array{EventRow{EventId{id}, kAccount, DeliveryId{}, 0, "webhook.test",
                                              "u" + std::to_string(id), "{}", tx.now()}});
        insert_sends(tx, std::array{SendRow{id, SubscriptionId{subscription}, EventId{id}, tx.now()}});
      }
    });
  }
  SendLeases lease(const SendLeaseLimits& limits = {}) {
    SendLeases leases;
    db_->write([&](Tx& tx) { leases = lease_sends(tx, lock_ready_subscriptions(tx, limits), limits); });
    return leases;
  }
  void record(const SendResult& result) {
    db_->write([&](Tx& tx) { record_sends(tx, std::span(&result, 1)); });
  }
  static SendResult success_of(const SendLeases& leases, std::size_t i) {
    const auto& send = leases.sends.at(i);
    return {.subscription = leases.targets.at(send.target).id,
            .send = send.id,
            .fence = send.fence,
            .attempt_id = send.id,
            .attempts = send.attempts + 1,
            .http_status = 200,
            .outcome = "succeeded",
            .status = SendStatus::succeeded};
  }
  static SendResult gone_of(const SendLeases& leases, std::size_t i) {
    auto result = success_of(leases, i);
    result.at = leases.at;
    result.http_status = 410;
    result.outcome = "http_error";
    result.status = SendStatus::failed;
    result.deactivate_for = kReceiverGone;
    result.version = leases.targets.at(leases.sends.at(i).target).version;
    return result;
  }
  void expect_gone_since(Timestamp at) {
    db_->read([&](Tx& tx) {
      const auto row = find_subscription(tx, SubscriptionId{1}).value();
      EXPECT_FALSE(row.active);
      EXPECT_EQ(row.failing_since, at);
      const TroubleRules rules{tx.now(), 1h, 120h, 24h};
      EXPECT_EQ(trouble_of(row, rules), SubscriptionTrouble::gone);
    });
  }
  std::string status(std::int64_t send) {
    std::string text;
    db_->read(
        [&](Tx& tx) { text = tx.one(kReadStatus, send, [](const Row& r) { return r.string(0); }).value(); });
    return text;
  }
  // The stored answer of the receiver of this dispatch.
  std::string answer_to(std::int64_t send) {
    std::string text;
    db_->read(
        [&](Tx& tx) { text = tx.one(kReadAnswer, send, [](const Row& r) { return r.string(0); }).value(); });
    return text;
  }
  std::int64_t attempts() {
    std::int64_t n = 0;
    db_->read([&](Tx& tx) { n = tx.one(kCountAttempts, [](const Row& r) { return r.int64(0); }).value(); });
    return n;
  }

  testing::MigratedDatabase db_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, SendStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(SendStoreTest, LeasesTheOldestSendsUpToTheLimitOfEachSubscription) {
  subscribe(1);
  subscribe(2);
  tell(1, 100, 20);
  tell(2, 200, 3);
  const auto leases = lease({.sends = 100, .per_subscription = 5});
  ASSERT_EQ(leases.sends.size(), 8u);
  EXPECT_EQ(leases.targets.size(), 2u);
  EXPECT_EQ(leases.sends[0].id, 100);
  EXPECT_EQ(leases.sends[4].id, 104);
  EXPECT_EQ(leases.sends[5].body, "{}");
  EXPECT_EQ(leases.sends[5].uuid, "u200");
  // The full one is not ready until its leases run out.
  EXPECT_EQ(leases.next_ready, db_.clock.now() + 40s);
  EXPECT_TRUE(lease({.sends = 100, .per_subscription = 5}).sends.empty());
}

TEST_P(SendStoreTest, ABacklogLeavesPlacesForOthers) {
  subscribe(1);
  subscribe(2);
  tell(1, 100, 50);
  db_.clock.advance(1ms);
  tell(2, 200, 1);
  const auto leases = lease({.sends = 8, .per_subscription = 50});
  EXPECT_EQ(leases.sends.size(), 5u);
  EXPECT_EQ(leases.targets.size(), 2u);
}

TEST_P(SendStoreTest, ANewEventDoesNotLiftTheLimitAndAResultGivesAPlace) {
  subscribe(1);
  tell(1, 100, 3);
  const SendLeaseLimits limits{.per_subscription = 2};
  const auto leases = lease(limits);
  ASSERT_EQ(leases.sends.size(), 2u);
  tell(1, 200, 1);
  EXPECT_TRUE(lease(limits).sends.empty());
  record(success_of(leases, 0));
  EXPECT_EQ(status(100), "succeeded");
  const auto more = lease(limits);
  ASSERT_EQ(more.sends.size(), 1u);
  EXPECT_EQ(more.sends[0].id, 102);
}

TEST_P(SendStoreTest, ASingleSubscriptionMayHaveALowerLimit) {
  subscribe(1);
  tell(1, 100, 9);
  const SendLeaseLimits limits{.lowered = std::make_shared<SendLimits>(SendLimits{{SubscriptionId{1}, 1}})};
  EXPECT_EQ(lease(limits).sends.size(), 1u);
  EXPECT_TRUE(lease(limits).sends.empty());
}

TEST_P(SendStoreTest, AResultOfALostLeaseChangesNothing) {
  subscribe(1);
  tell(1, 100, 1);
  const auto lost = lease();
  db_.clock.advance(40s);
  int taken = 0;
  db_->write([&](Tx& tx) { taken = take_over_expired_sends(tx, {}, 10); });
  EXPECT_EQ(taken, 1);
  auto late = success_of(lost, 0);
  late.deactivate_for = "receiver_gone";
  late.version = 1;
  late.status = SendStatus::failed;
  record(late);
  EXPECT_EQ(status(100), "pending");
  EXPECT_EQ(attempts(), 0);

  const auto again = lease();
  ASSERT_EQ(again.sends.size(), 1u);
  EXPECT_GT(again.sends[0].fence, lost.sends[0].fence);
  EXPECT_EQ(again.sends[0].uuid, lost.sends[0].uuid);
  late.released = true;
  record(late);
  EXPECT_EQ(status(100), "leased");
  record(success_of(again, 0));
  EXPECT_EQ(status(100), "succeeded");
  EXPECT_EQ(attempts(), 1);
}

TEST_P(SendStoreTest, AResultIsRecordedOnce) {
  subscribe(1);
  tell(1, 100, 1);
  const auto leases = lease();
  record(success_of(leases, 0));
  record(success_of(leases, 0));
  EXPECT_EQ(attempts(), 1);
}

TEST_P(SendStoreTest, AReleasedSendIsDueAgainWithoutAnAttempt) {
  subscribe(1);
  tell(1, 100, 1);
  auto result = success_of(lease(), 0);
  result.released = true;
  record(result);
  EXPECT_EQ(status(100), "pending");
  EXPECT_EQ(attempts(), 0);
  const auto again = lease();
  ASSERT_EQ(again.sends.size(), 1u);
  EXPECT_EQ(again.sends[0].attempts, 0);
}

TEST_P(SendStoreTest, ALeaseThatStillRunsIsNotTakenOver) {
  subscribe(1);
  tell(1, 100, 1);
  lease();
  db_.clock.advance(39s);
  int taken = -1;
  db_->write([&](Tx& tx) { taken = take_over_expired_sends(tx, {}, 10); });
  EXPECT_EQ(taken, 0);
}

TEST_P(SendStoreTest, AnInactiveSubscriptionKeepsItsSendsUntilItIsActivated) {
  subscribe(1);
  tell(1, 100, 1);
  db_->write([](Tx& tx) { tx.exec({"UPDATE webhook_subscriptions SET active = 0"}); });
  const auto none = lease();
  EXPECT_TRUE(none.sends.empty());
  EXPECT_FALSE(none.next_ready);
  db_->write([](Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET active = 1"});
    refresh_readiness(tx, SubscriptionId{1});
  });
  EXPECT_EQ(lease().sends.size(), 1u);
}

// Spec 10.1: the owner is notified of a receiver that is gone, whatever else it answered at that time.
TEST_P(SendStoreTest, ASuccessThatIsRecordedAfterAReceiverWasGoneEndsNoFailures) {
  subscribe(1);
  tell(1, 100, 2);
  const auto leases = lease();
  record(gone_of(leases, 0));
  record(success_of(leases, 1));
  EXPECT_EQ(status(101), "succeeded");
  expect_gone_since(leases.at);
}

TEST_P(SendStoreTest, ASuccessThatIsRecordedWithAReceiverThatIsGoneEndsNoFailures) {
  subscribe(1);
  tell(1, 100, 3);
  const auto leases = lease();
  const std::array results{success_of(leases, 0), gone_of(leases, 1), success_of(leases, 2)};
  db_->write([&](Tx& tx) { record_sends(tx, results); });
  EXPECT_EQ(status(102), "succeeded");
  expect_gone_since(leases.at);
}

// Spec 9.6: the receiver was sent the username, and may repeat it.
TEST_P(SendStoreTest, AnAnswerThatComesAfterAnErasureIsNotKept) {
  const auto named = [](std::string_view username) {
    return fmt::format(R"({{"delivery":{{"items":[{{"username":{}}}]}}}})", username);
  };
  subscribe(1);
  for (const auto& [id, body] : {std::pair{100, named("\"ann\"")}, std::pair{101, named("\"bob\"")}}) {
    db_->write([&](Tx& tx) {
      insert_events(tx, std::array{EventRow{EventId{id}, kAccount, DeliveryId{id}, 0, "delivery.completed",
                                            "u" + std::to_string(id), body, tx.now()}});
      insert_sends(tx, std::array{SendRow{id, SubscriptionId{1}, EventId{id}, tx.now()}});
    });
  }
  const auto leases = lease();
  ASSERT_EQ(leases.sends.size(), 2u);
  db_->write([](Tx& tx) { blank_events(tx, std::array{DeliveryId{100}}); });
  for (std::size_t i = 0; i < 2; ++i) {
    auto result = success_of(leases, i);
    result.answer = "thanks, ann";
    record(result);
  }
  EXPECT_EQ(answer_to(100), "");
  EXPECT_EQ(answer_to(101), "thanks, ann");  // another delivery's
}

// Spec 9.6: an erasure finds the answers to an event by the event's dispatches.
TEST_P(SendStoreTest, NoAnswerIsLeftOfADeletedSubscription) {
  subscribe(1);
  tell(1, 100, 1);
  auto result = success_of(lease(), 0);
  result.answer = "who is ann?";
  result.status = SendStatus::pending;
  record(result);
  ASSERT_EQ(answer_to(100), "who is ann?");
  db_->write([](Tx& tx) { delete_subscription(tx, SubscriptionId{1}); });
  EXPECT_EQ(attempts(), 0);
}

TEST_P(SendStoreTest, ASendWithoutItsEventIsDropped) {
  subscribe(1);
  tell(1, 100, 2);
  db_->write([](Tx& tx) { tx.exec({"DELETE FROM outbound_events WHERE id = 100"}); });
  const auto leases = lease();
  ASSERT_EQ(leases.sends.size(), 1u);
  EXPECT_EQ(leases.sends[0].id, 101);
  EXPECT_EQ(status(100), "failed");
}

}  // namespace
}  // namespace presetbridge::storage
