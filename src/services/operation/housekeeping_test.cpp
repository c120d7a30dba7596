#include "services/operation/housekeeping.h"

#include <gtest/gtest.h>
#include <array>

#include "crypto/digest.h"
#include "identity/testing.h"
#include "storage/stores/account_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/timeline_store.h"
#include "storage/stores/timeline_summary.h"
#include "storage/stores/webhook_event_store.h"

namespace presetbridge::services {
namespace {

using std::chrono::days;
using std::chrono::hours;
using storage::Tx;

constexpr AccountId kAccount{1};
constexpr SubscriptionId kSubscription{2};
constexpr storage::Sql kSetStatus{
    "UPDATE webhook_sends SET status = $2, lease_expires_at = $3 WHERE id = $1"};
constexpr storage::Sql kInsertAttempt{
    "INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, duration_ms, outcome, answer)"
    " VALUES ($1, $2, 1, 1, $3, 5, 'succeeded', '')"};
constexpr storage::Sql kInsertAnswer{
    "INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, duration_ms, outcome, answer)"
    " VALUES ($1, $2, $3, 1, $4, 5, 'succeeded', 'hello ann')"};
constexpr storage::Sql kAnswered{"SELECT send_id FROM webhook_attempts WHERE answer <> ''"};

constexpr storage::Sql kPayloadIds{"SELECT order_id FROM order_payloads ORDER BY order_id"};
constexpr storage::Sql kPayloads{"SELECT count(*) FROM order_payloads"};
constexpr storage::Sql kEvents{"SELECT count(*) FROM outbound_events"};
constexpr storage::Sql kDispatchIds{"SELECT id FROM webhook_sends ORDER BY id"};
constexpr storage::Sql kDispatches{"SELECT count(*) FROM webhook_sends"};
constexpr storage::Sql kOrphans{
    "SELECT count(*) FROM webhook_sends WHERE event_id NOT IN (SELECT id FROM outbound_events)"};
constexpr storage::Sql kAttempts{"SELECT count(*) FROM webhook_attempts"};
constexpr storage::Sql kMappings{"SELECT count(*) FROM mappings"};
constexpr storage::Sql kRemains{"SELECT count(*) FROM mapping_remains"};
constexpr storage::Sql kStoreHours{"SELECT count(*) FROM store_hours"};
constexpr storage::Sql kRevisits{"SELECT count(*) FROM timeline_revisits"};
constexpr storage::Sql kAudits{"SELECT count(*) FROM audit_log"};
constexpr storage::Sql kSignInAttempts{"SELECT count(*) FROM sign_in_tries"};
constexpr storage::Sql kTokens{"SELECT count(*) FROM session_tokens"};
constexpr storage::Sql kSessions{"SELECT count(*) FROM sessions"};

class HousekeepingTest : public ::testing::Test {
 protected:
  HousekeepingTest() {
    write([](Tx& tx) {
      insert_account(tx, kAccount, "a merchant");
      storage::SubscriptionRow row{.id = kSubscription, .account = kAccount, .url = "https://shop.example/"};
      row.encrypted_secret = std::vector<std::byte>(3);
      insert_subscription(tx, row);
    });
  }
  ~HousekeepingTest() override { stop(); }

  template <class Fn>
  void write(Fn fn) {
    world_.db->write([&](Tx& tx) { fn(tx); });
  }
  // The first column, in order.
  std::string all(const storage::Sql& query) {
    std::string text;
    world_.db->read([&](Tx& tx) {
      text.clear();
      tx.query(query, [&](const storage::Row& r) { text += std::to_string(r.int64(0)) + " "; });
    });
    return text;
  }
  std::int64_t count(const storage::Sql& query) { return std::stoll(all(query)); }
  void pass(Millis time) { world_.scheduler.advance(time); }

  std::int64_t payload() {
    const auto id = world_.ids.next();
    const std::byte body[] = {std::byte{1}};
    write([&](Tx& tx) { put_order_payload(tx, OrderId{id}, tx.now(), body); });
    return id;
  }
  // The dispatch of an event that is made now.
  std::int64_t event(std::string_view status = "succeeded", SubscriptionId subscription = kSubscription) {
    const EventId event{world_.ids.next()};
    const auto dispatch = world_.ids.next();
    write([&](Tx& tx) {
      insert_events(tx, std::array{storage::EventRow{.id = event,
                                                     .account = kAccount,
                                                     .type = "webhook.test",
                                                     .uuid = "u",
                                                     .body = "{}",
                                                     .created_at = tx.now()}});
      insert_dispatches(tx, std::array{storage::DispatchRow{dispatch, subscription, event, tx.now()}});
      const auto expires = status == "leased" ? std::optional(tx.now()) : std::nullopt;
      tx.exec(kSetStatus, dispatch, status, expires);
      tx.exec(kInsertAttempt, subscription, world_.ids.next(), tx.now());
    });
    return dispatch;
  }

  void happens(DeliveryId delivery, domain::TimelineType type, int times = 1,
               domain::TimelineKind kind = domain::TimelineKind::attempt) {
    for (int i = 0; i < times; ++i) {
      write([&](Tx& tx) {
        const storage::TimelineEntry entry{.id = world_.ids.next(),
                                           .at = tx.now(),
                                           .type = type,
                                           .kind = kind,
                                           .actor = "system",
                                           .status = "processing",
                                           .message = "x"};
        append_timeline(tx, std::array{storage::TimelineRow{delivery, entry}});
      });
    }
  }
  std::vector<storage::TimelineEntry> timeline(DeliveryId delivery) {
    std::vector<storage::TimelineEntry> entries;
    world_.db->read([&](Tx& tx) { entries = find_timeline(tx, delivery, 100); });
    return entries;
  }

  void start(Housekeeping::Pace pace = {}) {
    keeping_ =
        std::make_unique<Housekeeping>(world_.scheduler, world_.async_db, world_.log, Retention{}, pace);
    keeping_->start();
    world_.scheduler.run();
  }
  void stop() {
    if (!keeping_) return;
    bool stopped = false;
    keeping_->stop([&] { stopped = true; });
    world_.scheduler.run();
    EXPECT_TRUE(stopped);
    keeping_.reset();
  }

  identity::testing::World world_;
  std::unique_ptr<Housekeeping> keeping_;
};

TEST_F(HousekeepingTest, PayloadsGoThirtyDaysAfterTheNewestEventOfTheirOrder) {
  const auto old = payload();
  const auto renewed = payload();
  pass(days{10});
  write([&](Tx& tx) { put_order_payload(tx, OrderId{renewed}, tx.now(), {}); });
  const auto young = payload();
  start();
  const auto text = [&](std::initializer_list<std::int64_t> ids) {
    std::string all;
    for (const auto id : ids) all += std::to_string(id) + " ";
    return all;
  };
  pass(days{20});
  EXPECT_EQ(all(kPayloadIds), text({old, renewed, young}));
  pass(hours{1});
  EXPECT_EQ(all(kPayloadIds), text({renewed, young}));
  pass(days{10});
  EXPECT_EQ(count(kPayloads), 0);
  EXPECT_NE(world_.log.text.find("old rows were deleted what=order payloads rows=1"), std::string::npos);
}

TEST_F(HousekeepingTest, OutboundEventsDispatchesAndAttemptsGoAfterNinetyDaysAndADispatchUnderWayStays) {
  event("succeeded");
  event("failed");
  event("exhausted");
  event("pending");                       // of a subscription that is not active
  event("succeeded", SubscriptionId{7});  // of one that was deleted since
  const auto under_way = event("leased");
  pass(days{1});
  const auto young = event("pending");
  start();
  pass(days{89} - hours{2});
  EXPECT_EQ(count(kEvents), 7);
  EXPECT_EQ(count(kDispatches), 7);
  EXPECT_EQ(count(kAttempts), 7);
  pass(hours{3});
  EXPECT_EQ(count(kEvents), 2) << "the one under way with its send";
  EXPECT_EQ(all(kDispatchIds), std::to_string(under_way) + " " + std::to_string(young) + " ");
  EXPECT_EQ(count(kAttempts), 1);
}

// An erasure finds an answer by its dispatch (spec 9.6).
TEST_F(HousekeepingTest, AnAnswerThatCameLongAfterItsEventGoesWithTheDispatch) {
  const auto resent = event();
  const auto young = event("pending");
  pass(days{60});
  write([&](Tx& tx) {
    for (const auto dispatch : {resent, young})
      tx.exec(kInsertAnswer, kSubscription, world_.ids.next(), dispatch, tx.now());
    tx.exec(kSetStatus, young, "leased", tx.now());
  });
  start();
  pass(days{30} + hours{1});
  EXPECT_EQ(all(kDispatchIds), std::to_string(young) + " ");
  EXPECT_EQ(count(kAttempts), 2) << "those of the day of the events are gone";
  EXPECT_EQ(all(kAnswered), std::to_string(young) + " ");
}

// Spec 8.6: no merchant's subscription is too large to be deleted.
TEST_F(HousekeepingTest, WhatWaitedForADeletedSubscriptionGoesInBatches) {
  const auto under_way = event("leased");
  for (int i = 0; i < 1'300; ++i) event("pending");
  const SubscriptionId kept{7};
  write([&](Tx& tx) {
    storage::SubscriptionRow row{.id = kept, .account = kAccount, .url = "https://shop.example/"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_subscription(tx, row);
  });
  const auto theirs = event("pending", kept);
  const auto done = event("succeeded");
  write([](Tx& tx) { delete_subscription(tx, kSubscription); });
  EXPECT_EQ(count(kDispatches), 1'303 - storage::kDispatchBatch) << "the deletion itself is bounded";
  write([](Tx& tx) {
    EXPECT_TRUE(lease_dispatches(tx, lock_ready_subscriptions(tx, {}), {}).dispatches.size() == 1)
        << "nothing more is sent to it";
  });
  start({.batch = 300});
  EXPECT_EQ(count(kDispatches), 503) << "one piece, and then a pause";
  pass(std::chrono::minutes{1});
  EXPECT_EQ(all(kDispatchIds),
            std::to_string(under_way) + " " + std::to_string(theirs) + " " + std::to_string(done) + " ");
}

// It has all its attempts again (spec 9.5).
TEST_F(HousekeepingTest, AnEventThatIsSentAgainStaysUntilItsAttemptsAreOver) {
  const auto resent = event("exhausted");
  event("exhausted");
  start();
  pass(days{90} - hours{2});
  write([&](Tx& tx) { EXPECT_TRUE(send_again(tx, kSubscription, resent)); });
  pass(days{1});
  EXPECT_EQ(all(kDispatchIds), std::to_string(resent) + " ");
  EXPECT_EQ(count(kEvents), 1);
  write([&](Tx& tx) { tx.exec(kSetStatus, resent, "exhausted", std::optional<Timestamp>{}); });
  pass(hours{1});
  EXPECT_EQ(count(kDispatches), 0);
  EXPECT_EQ(count(kEvents), 0);
}

TEST_F(HousekeepingTest, ADispatchIsNeverWithoutItsEvent) {
  for (int hour = 0; hour < 100; ++hour) {
    event();
    pass(hours{1});
  }
  pass(days{85});
  start();
  pass(days{1});
  for (int hour = 0; hour < 100; ++hour) {
    pass(hours{1});
    ASSERT_EQ(all(kOrphans), "0 ") << hour;
  }
  EXPECT_EQ(count(kEvents), 0);
}

TEST_F(HousekeepingTest, TheAuditLogIsKeptForTwoYears) {
  write([&](Tx& tx) { insert_audit(tx, world_.ids, {kAccount, "operator", "a.b", "", ""}); });
  pass(days{729});
  start();
  pass(days{1});
  EXPECT_EQ(count(kAudits), 1);
  pass(hours{1});
  EXPECT_EQ(count(kAudits), 0);
}

TEST_F(HousekeepingTest, OfAttemptsToSignInOnlySoManyOfTheNewestStay) {
  for (std::uint8_t i = 0; i < 60; ++i) {
    const std::byte email[] = {std::byte{i}};
    write([&](Tx& tx) { lock_sign_in_attempts(tx, email); });
    pass(std::chrono::seconds{1});
  }
  start({.batch = 7, .pause = Millis{1}, .sign_in_attempts = 20});
  pass(std::chrono::seconds{1});
  EXPECT_EQ(count(kSignInAttempts), 20);
  const std::byte newest[] = {std::byte{59}};
  const std::byte oldest[] = {std::byte{40}};
  const std::byte gone[] = {std::byte{39}};
  write([&](Tx& tx) {
    EXPECT_TRUE(find_sign_in_attempts(tx, newest));
    EXPECT_TRUE(find_sign_in_attempts(tx, oldest));
    EXPECT_FALSE(find_sign_in_attempts(tx, gone));
  });
}

TEST_F(HousekeepingTest, ExpiredRefreshTokensAndForgottenAttemptsToSignInGo) {
  auto issuer = world_.issuer();
  ASSERT_TRUE(world_.await(issuer->start(world_.scheduler)));
  ASSERT_TRUE(
      world_.await(issuer->sign_up(world_.scheduler, {}, "ann@example.com", "correct horse battery", "")));
  ASSERT_FALSE(world_.await(issuer->sign_in(world_.scheduler, {}, "ann@example.com", "a wrong password")));
  start();
  pass(days{1});
  EXPECT_EQ(count(kSignInAttempts), 1);
  pass(hours{1});
  EXPECT_EQ(count(kSignInAttempts), 0);
  pass(days{29} - hours{2});
  EXPECT_EQ(count(kTokens), 1);
  EXPECT_EQ(count(kSessions), 1);
  pass(hours{2});
  EXPECT_EQ(count(kTokens), 0);
  EXPECT_EQ(count(kSessions), 0);
}

TEST_F(HousekeepingTest, MuchIsDeletedInBatchesWithPausesAndAStopEndsBetweenThem) {
  for (int i = 0; i < 25; ++i) payload();
  for (int i = 0; i < 15; ++i) event();
  pass(days{100});
  const auto before = world_.async_db.stats().commits;
  start({.batch = 10, .pause = Millis{100}});
  EXPECT_EQ(count(kPayloads), 15);
  EXPECT_EQ(world_.async_db.stats().commits - before, 1U);
  pass(Millis{100});
  EXPECT_EQ(count(kPayloads), 5);
  stop();
  pass(hours{2});
  EXPECT_EQ(count(kPayloads), 5);
  start({.batch = 10, .pause = Millis{100}});
  pass(hours{1} - Millis{1});
  EXPECT_EQ(count(kPayloads), 0);
  EXPECT_EQ(count(kDispatches), 0);
  EXPECT_EQ(count(kEvents), 0);
  EXPECT_EQ(count(kAttempts), 0);
}

TEST_F(HousekeepingTest, MappingsOfASaveThatNeverEndedGoWhenItsTimeIsOver) {
  constexpr IntegrationId kStore{3};
  constexpr int kRows = 7;
  write([&](Tx& tx) {
    storage::IntegrationRow row{.id = kStore, .account = kAccount, .name = "Store"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_integration(tx, row);
    std::vector<storage::MappingRow> mappings;
    for (int i = 0; i < kRows; ++i) {
      const std::string sku = std::to_string(i);
      mappings.push_back({{world_.ids.make<MappingId>(), domain::MatchType::sku, sku,
                           domain::MappingAction::deliver, "f", "", ""},
                          sku,
                          false});
    }
    replace_mappings(tx, kStore, mappings);
    const auto lost = begin_mappings(tx, kStore, tx.now() + hours{1});
    stage_mappings(tx, lost, mappings);
  });
  start({.batch = 2});
  pass(Millis{10'000});
  EXPECT_EQ(count(kMappings), 2 * kRows);
  pass(hours{2});
  EXPECT_EQ(count(kMappings), kRows);
  EXPECT_EQ(count(kRemains), 0);
}

TEST_F(HousekeepingTest, WhatStoresSentByTheHourGoesAfterTwoDays) {
  write([](Tx& tx) {
    for (const auto* what : {"accepted", "order"}) {
      for (int hour = 0; hour < 3; ++hour) {
        const auto begun = std::chrono::floor<hours>(tx.now()) - hours{hour};
        add_store_hours(tx, std::array{storage::StoreHour{IntegrationId{3}, begun, what, 1, begun}});
      }
    }
  });
  start({.batch = 1});
  pass(days{2} - hours{1});
  EXPECT_EQ(count(kStoreHours), 4) << "of the hours that began less than two days ago";
  pass(hours{3});
  EXPECT_EQ(count(kStoreHours), 0);
}

TEST_F(HousekeepingTest, OldAttemptsOnADeliveryBecomeOneEntry) {
  const DeliveryId delivery{world_.ids.next()};
  const auto begun = world_.clock().now();
  happens(delivery, domain::TimelineType::looked_up, 3);
  happens(delivery, domain::TimelineType::put_off, 20);
  happens(delivery, domain::TimelineType::action, 1, domain::TimelineKind::action);
  pass(days{60});
  const DeliveryId younger{world_.ids.next()};
  happens(younger, domain::TimelineType::looked_up, 2);
  happens(delivery, domain::TimelineType::put_off, 2);
  pass(days{31});
  start({.batch = 5});
  pass(Millis{10'000});
  const auto left = timeline(delivery);
  ASSERT_EQ(left.size(), 4U);
  using Type = domain::TimelineType;
  std::vector<Type> types;
  for (const auto& entry : left) types.push_back(entry.type.value());
  EXPECT_EQ(types, (std::vector{Type::put_off, Type::put_off, Type::action, Type::summary}));
  EXPECT_EQ(left[3].message, "23 attempts, summed up.");
  EXPECT_EQ(left[3].kind, domain::TimelineKind::attempt);
  EXPECT_EQ(timeline(younger).size(), 2U);
  world_.db->read([&](Tx& tx) {
    for (const auto& [type, at] : find_first_times(tx, delivery)) {
      if (type == domain::TimelineType::looked_up) EXPECT_EQ(at, begun);
    }
    EXPECT_EQ(find_first_times(tx, delivery).size(), 4U);
  });
  // Entries that were young then are summed up with the others later.
  pass(days{60});
  EXPECT_EQ(timeline(delivery).size(), 2U);
  EXPECT_EQ(timeline(delivery)[0].message + timeline(delivery)[1].message, "25 attempts, summed up.x");
  EXPECT_EQ(timeline(younger).size(), 1U);
  EXPECT_EQ(count(kRevisits), 0);
}

TEST_F(HousekeepingTest, AttemptsLongAfterADeliveryWasMadeAreSummedUpToo) {
  const DeliveryId delivery{world_.ids.next()};
  happens(delivery, domain::TimelineType::put_off, 2);
  start();
  pass(days{100});
  EXPECT_EQ(timeline(delivery).size(), 1U);
  happens(delivery, domain::TimelineType::put_off, 3);
  EXPECT_EQ(timeline(delivery).size(), 4U);
  pass(days{89});
  EXPECT_EQ(timeline(delivery).size(), 4U);
  pass(days{2});
  ASSERT_EQ(timeline(delivery).size(), 1U);
  EXPECT_EQ(timeline(delivery)[0].message, "5 attempts, summed up.");
  EXPECT_EQ(count(kRevisits), 0);
}

}  // namespace
}  // namespace presetbridge::services
