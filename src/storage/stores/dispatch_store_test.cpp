#include "storage/stores/dispatch_store.h"

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

class DispatchStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  DispatchStoreTest() {
    db_->write([](Tx& tx) { insert_account(tx, kAccount, "a merchant"); });
  }
  void subscribe(std::int64_t id) {
    const std::vector<std::byte> secret(3);
    db_->write([&](Tx& tx) { tx.exec(kInsertSubscription, id, kAccount, Blob(secret), tx.now()); });
  }
  // `count` events for the subscription, with dispatches first_dispatch, first_dispatch + 1, ...
  void add_events(std::int64_t subscription, std::int64_t first_dispatch, int count) {
    db_->write([&](Tx& tx) {
      for (std::int64_t id = first_dispatch; id < first_dispatch + count; ++id) {
        insert_events(tx, std::array{EventRow{EventId{id}, kAccount, DeliveryId{}, 0, "webhook.test",
                                              "u" + std::to_string(id), "{}", tx.now()}});
        insert_dispatches(tx,
                          std::array{DispatchRow{id, SubscriptionId{subscription}, EventId{id}, tx.now()}});
      }
    });
  }
  DispatchLeases lease(const DispatchLeaseLimits& limits = {}) {
    DispatchLeases leases;
    db_->write([&](Tx& tx) { leases = lease_dispatches(tx, lock_ready_subscriptions(tx, limits), limits); });
    return leases;
  }
  void record(const DispatchResult& result) {
    db_->write([&](Tx& tx) { record_results(tx, std::span(&result, 1)); });
  }
  static DispatchResult success_of(const DispatchLeases& leases, std::size_t i) {
    const auto& dispatch = leases.dispatches.at(i);
    return {.subscription = leases.targets.at(dispatch.target).id,
            .dispatch = dispatch.id,
            .fence = dispatch.fence,
            .attempt_id = dispatch.id,
            .attempts = dispatch.attempts + 1,
            .http_status = 200,
            .outcome = "succeeded",
            .status = DispatchStatus::succeeded};
  }
  static DispatchResult gone_of(const DispatchLeases& leases, std::size_t i) {
    auto result = success_of(leases, i);
    result.at = leases.at;
    result.http_status = 410;
    result.outcome = "http_error";
    result.status = DispatchStatus::failed;
    result.deactivate_for = kReceiverGone;
    result.version = leases.targets.at(leases.dispatches.at(i).target).version;
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
  std::string status(std::int64_t dispatch) {
    std::string text;
    db_->read([&](Tx& tx) {
      text = tx.one(kReadStatus, dispatch, [](const Row& r) { return r.string(0); }).value();
    });
    return text;
  }
  // The stored answer of the receiver of this dispatch.
  std::string answer_to(std::int64_t dispatch) {
    std::string text;
    db_->read([&](Tx& tx) {
      text = tx.one(kReadAnswer, dispatch, [](const Row& r) { return r.string(0); }).value();
    });
    return text;
  }
  std::int64_t attempts() {
    std::int64_t n = 0;
    db_->read([&](Tx& tx) { n = tx.one(kCountAttempts, [](const Row& r) { return r.int64(0); }).value(); });
    return n;
  }

  testing::MigratedDatabase db_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, DispatchStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(DispatchStoreTest, LeasesTheOldestDispatchesUpToTheLimitOfEachSubscription) {
  subscribe(1);
  subscribe(2);
  add_events(1, 100, 20);
  add_events(2, 200, 3);
  const auto leases = lease({.dispatches = 100, .per_subscription = 5});
  ASSERT_EQ(leases.dispatches.size(), 8u);
  EXPECT_EQ(leases.targets.size(), 2u);
  EXPECT_EQ(leases.dispatches[0].id, 100);
  EXPECT_EQ(leases.dispatches[4].id, 104);
  EXPECT_EQ(leases.dispatches[5].body, "{}");
  EXPECT_EQ(leases.dispatches[5].uuid, "u200");
  // The full one is not ready until its leases run out.
  EXPECT_EQ(leases.next_ready, db_.clock.now() + 40s);
  EXPECT_TRUE(lease({.dispatches = 100, .per_subscription = 5}).dispatches.empty());
}

TEST_P(DispatchStoreTest, ABacklogLeavesPlacesForOthers) {
  subscribe(1);
  subscribe(2);
  add_events(1, 100, 50);
  db_.clock.advance(1ms);
  add_events(2, 200, 1);
  const auto leases = lease({.dispatches = 8, .per_subscription = 50});
  EXPECT_EQ(leases.dispatches.size(), 5u);
  EXPECT_EQ(leases.targets.size(), 2u);
}

TEST_P(DispatchStoreTest, ANewEventDoesNotLiftTheLimitAndAResultGivesAPlace) {
  subscribe(1);
  add_events(1, 100, 3);
  const DispatchLeaseLimits limits{.per_subscription = 2};
  const auto leases = lease(limits);
  ASSERT_EQ(leases.dispatches.size(), 2u);
  add_events(1, 200, 1);
  EXPECT_TRUE(lease(limits).dispatches.empty());
  record(success_of(leases, 0));
  EXPECT_EQ(status(100), "succeeded");
  const auto more = lease(limits);
  ASSERT_EQ(more.dispatches.size(), 1u);
  EXPECT_EQ(more.dispatches[0].id, 102);
}

TEST_P(DispatchStoreTest, ASingleSubscriptionMayHaveALowerLimit) {
  subscribe(1);
  add_events(1, 100, 9);
  const DispatchLeaseLimits limits{
      .lowered = std::make_shared<DispatchLimits>(DispatchLimits{{SubscriptionId{1}, 1}})};
  EXPECT_EQ(lease(limits).dispatches.size(), 1u);
  EXPECT_TRUE(lease(limits).dispatches.empty());
}

TEST_P(DispatchStoreTest, AResultOfALostLeaseChangesNothing) {
  subscribe(1);
  add_events(1, 100, 1);
  const auto lost = lease();
  db_.clock.advance(40s);
  int taken = 0;
  db_->write([&](Tx& tx) { taken = take_over_expired_dispatches(tx, {}, 10); });
  EXPECT_EQ(taken, 1);
  auto late = success_of(lost, 0);
  late.deactivate_for = "receiver_gone";
  late.version = 1;
  late.status = DispatchStatus::failed;
  record(late);
  EXPECT_EQ(status(100), "pending");
  EXPECT_EQ(attempts(), 0);

  const auto again = lease();
  ASSERT_EQ(again.dispatches.size(), 1u);
  EXPECT_GT(again.dispatches[0].fence, lost.dispatches[0].fence);
  EXPECT_EQ(again.dispatches[0].uuid, lost.dispatches[0].uuid);
  late.released = true;
  record(late);
  EXPECT_EQ(status(100), "leased");
  record(success_of(again, 0));
  EXPECT_EQ(status(100), "succeeded");
  EXPECT_EQ(attempts(), 1);
}

TEST_P(DispatchStoreTest, AResultIsRecordedOnce) {
  subscribe(1);
  add_events(1, 100, 1);
  const auto leases = lease();
  record(success_of(leases, 0));
  record(success_of(leases, 0));
  EXPECT_EQ(attempts(), 1);
}

TEST_P(DispatchStoreTest, AReleasedDispatchIsDueAgainWithoutAnAttempt) {
  subscribe(1);
  add_events(1, 100, 1);
  auto result = success_of(lease(), 0);
  result.released = true;
  record(result);
  EXPECT_EQ(status(100), "pending");
  EXPECT_EQ(attempts(), 0);
  const auto again = lease();
  ASSERT_EQ(again.dispatches.size(), 1u);
  EXPECT_EQ(again.dispatches[0].attempts, 0);
}

TEST_P(DispatchStoreTest, ALeaseThatStillRunsIsNotTakenOver) {
  subscribe(1);
  add_events(1, 100, 1);
  lease();
  db_.clock.advance(39s);
  int taken = -1;
  db_->write([&](Tx& tx) { taken = take_over_expired_dispatches(tx, {}, 10); });
  EXPECT_EQ(taken, 0);
}

TEST_P(DispatchStoreTest, AnInactiveSubscriptionKeepsItsDispatchesUntilItIsActivated) {
  subscribe(1);
  add_events(1, 100, 1);
  db_->write([](Tx& tx) { tx.exec({"UPDATE webhook_subscriptions SET active = 0"}); });
  const auto none = lease();
  EXPECT_TRUE(none.dispatches.empty());
  EXPECT_FALSE(none.next_ready);
  db_->write([](Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET active = 1"});
    refresh_readiness(tx, SubscriptionId{1});
  });
  EXPECT_EQ(lease().dispatches.size(), 1u);
}

// Spec 10.1: the owner is notified of a receiver that is gone, whatever else it answered at that time.
TEST_P(DispatchStoreTest, ASuccessThatIsRecordedAfterAReceiverWasGoneEndsNoFailures) {
  subscribe(1);
  add_events(1, 100, 2);
  const auto leases = lease();
  record(gone_of(leases, 0));
  record(success_of(leases, 1));
  EXPECT_EQ(status(101), "succeeded");
  expect_gone_since(leases.at);
}

TEST_P(DispatchStoreTest, ASuccessThatIsRecordedWithAReceiverThatIsGoneEndsNoFailures) {
  subscribe(1);
  add_events(1, 100, 3);
  const auto leases = lease();
  const std::array results{success_of(leases, 0), gone_of(leases, 1), success_of(leases, 2)};
  db_->write([&](Tx& tx) { record_results(tx, results); });
  EXPECT_EQ(status(102), "succeeded");
  expect_gone_since(leases.at);
}

// Spec 9.6: the receiver was sent the username, and may repeat it.
TEST_P(DispatchStoreTest, AnAnswerThatComesAfterAnErasureIsNotKept) {
  const auto named = [](std::string_view username) {
    return fmt::format(R"({{"delivery":{{"items":[{{"username":{}}}]}}}})", username);
  };
  subscribe(1);
  for (const auto& [id, body] : {std::pair{100, named("\"ann\"")}, std::pair{101, named("\"bob\"")}}) {
    db_->write([&](Tx& tx) {
      insert_events(tx, std::array{EventRow{EventId{id}, kAccount, DeliveryId{id}, 0, "delivery.completed",
                                            "u" + std::to_string(id), body, tx.now()}});
      insert_dispatches(tx, std::array{DispatchRow{id, SubscriptionId{1}, EventId{id}, tx.now()}});
    });
  }
  const auto leases = lease();
  ASSERT_EQ(leases.dispatches.size(), 2u);
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
TEST_P(DispatchStoreTest, NoAnswerIsLeftOfADeletedSubscription) {
  subscribe(1);
  add_events(1, 100, 1);
  auto result = success_of(lease(), 0);
  result.answer = "who is ann?";
  result.status = DispatchStatus::pending;
  record(result);
  ASSERT_EQ(answer_to(100), "who is ann?");
  db_->write([](Tx& tx) { delete_subscription(tx, SubscriptionId{1}); });
  EXPECT_EQ(attempts(), 0);
}

TEST_P(DispatchStoreTest, ADispatchWithoutItsEventIsDropped) {
  subscribe(1);
  add_events(1, 100, 2);
  db_->write([](Tx& tx) { tx.exec({"DELETE FROM outbound_events WHERE id = 100"}); });
  const auto leases = lease();
  ASSERT_EQ(leases.dispatches.size(), 1u);
  EXPECT_EQ(leases.dispatches[0].id, 101);
  EXPECT_EQ(status(100), "failed");
}

}  // namespace
}  // namespace presetbridge::storage
