// Receivers that only fail (spec 10.1): reported after an hour, turned off after five days.
#include "services/webhooks/subscription_watch.h"

#include <boost/json.hpp>

#include "services/dispatcher/dispatcher_testing.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services::testing {
namespace {

class SubscriptionWatchTest : public DispatcherTest {
 protected:
  SubscriptionWatchTest() {
    receiver_.answer = [this](const net::OutgoingRequest& request) {
      return FakeReceiver::status(request.url.contains("dead") ? dead_answers_ : 200);
    };
    dispatcher_ = dispatcher({.poll = 1h, .maintenance = 1h});
    watch_.start();
  }
  ~SubscriptionWatchTest() override {
    bool stopped = false;
    watch_.stop([&] { stopped = true; });
    stop(*dispatcher_);
    EXPECT_TRUE(stopped);
  }
  // An event each hour, for so long.
  void keep_publishing(SubscriptionId id, Millis time) {
    for (Millis gone{0}; gone < time; gone += 1h) {
      publish({id});
      dispatcher_->wake();
      scheduler_.advance(1h);
    }
  }
  // The notices of the dead receiver that the living one got.
  std::vector<std::string> reported() {
    std::vector<std::string> states;
    for (const auto& request : receiver_.requests) {
      if (header(request, "X-Vendor-Event") != "subscription.failing") continue;
      const auto body = boost::json::parse(request.body).as_object();
      const auto& subscription = body.at("subscription").as_object();
      EXPECT_EQ(subscription.at("id").as_string(), to_string(dead_));
      EXPECT_EQ(subscription.at("host").as_string(), "dead.example");
      EXPECT_FALSE(request.body.contains("in-the-address"));
      EXPECT_FALSE(request.url.contains("dead"));
      EXPECT_EQ(body.at("id").as_string(), header(request, "webhook-id"));
      states.push_back(request.url + " " + std::string(subscription.at("state").as_string()));
    }
    return states;
  }
  storage::SubscriptionRow row(SubscriptionId id) {
    storage::SubscriptionRow found;
    db_->read([&](storage::Tx& tx) { found = find_subscription(tx, id).value(); });
    return found;
  }

  int dead_answers_ = 503;
  std::unique_ptr<WebhookDispatcher> dispatcher_;
  SubscriptionWatch watch_{scheduler_,  *async_db_, ids_, random_, log_, [this] { dispatcher_->wake(); },
                           {.poll = 1h}};
  const SubscriptionId dead_ = subscribe("https://dead.example/hook?token=in-the-address");
  const SubscriptionId alive_ = subscribe("https://alive.example/hook");
  using States = std::vector<std::string>;
};

TEST_F(SubscriptionWatchTest, OthersAreNotifiedAfterAnHourOfNothingButFailuresAndOnceOnly) {
  const Timestamp begin = db_.clock.now();
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(59min);
  EXPECT_EQ(reported(), States{});
  EXPECT_EQ(row(dead_).failing_since, begin);
  scheduler_.advance(3min);
  EXPECT_EQ(reported(), States{"https://alive.example/hook failing"});
  scheduler_.advance(24h);
  EXPECT_EQ(reported().size(), 1U);
  EXPECT_TRUE(row(dead_).active);
}

TEST_F(SubscriptionWatchTest, ASuccessBeginsItAnew) {
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(30min);
  dead_answers_ = 200;
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(1min);
  EXPECT_EQ(row(dead_).failing_since, std::nullopt);
  scheduler_.advance(2h);
  dead_answers_ = 503;
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(50min);
  EXPECT_EQ(reported(), States{});
  scheduler_.advance(20min);
  EXPECT_EQ(reported().size(), 1U);
}

TEST_F(SubscriptionWatchTest, OneFailureAloneIsNoHourOfThem) {
  dead_answers_ = 404;  // not tried again
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(72h);
  EXPECT_EQ(reported(), States{});
  EXPECT_TRUE(row(dead_).failing_since);
}

TEST_F(SubscriptionWatchTest, AfterFiveDaysItIsTurnedOffAndThatIsReported) {
  keep_publishing(dead_, 119h);
  EXPECT_TRUE(row(dead_).active);
  keep_publishing(dead_, 3h);
  EXPECT_EQ(reported(), (States{"https://alive.example/hook failing", "https://alive.example/hook off"}));
  EXPECT_FALSE(row(dead_).active);
  EXPECT_EQ(row(dead_).deactivated_reason, storage::kTurnedOff);
  EXPECT_EQ(count({"SELECT count(*) FROM audit_log WHERE action = 'subscription.turned_off'"}), 1);
  const auto sent = receiver_.requests.size();
  scheduler_.advance(48h);
  EXPECT_EQ(receiver_.requests.size(), sent) << "nothing more is sent to it";

  // Turned on again it has as long as any other.
  Subscriptions subscriptions(*async_db_, ids_, random_, cipher_, net::AddressPolicy::public_https,
                              [&] { dispatcher_->wake(); });
  spawn(subscriptions.change(scheduler_, {.account = kAccount, .permissions = identity::PermissionSet::all()},
                             dead_, {.active = true}),
        [](auto) {});
  scheduler_.advance(10min);
  EXPECT_TRUE(row(dead_).active);
  EXPECT_GT(row(dead_).failing_since, db_.clock.now() - 11min);
}

TEST_F(SubscriptionWatchTest, TwoFailuresAWeekApartTurnNothingOffBeforeADayOfNotice) {
  dead_answers_ = 404;
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(std::chrono::days{7});
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(23h);
  EXPECT_EQ(reported(), States{"https://alive.example/hook failing"});
  EXPECT_TRUE(row(dead_).active);
  scheduler_.advance(2h);
  EXPECT_FALSE(row(dead_).active);
}

TEST_F(SubscriptionWatchTest, AReceiverThatIsGoneIsReported) {
  dead_answers_ = 410;
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(2min);
  EXPECT_EQ(reported(), States{"https://alive.example/hook gone"});
  EXPECT_FALSE(row(dead_).active);
}

TEST_F(SubscriptionWatchTest, AReceiverThatIsGoneIsReportedThoughALaterAttemptSucceededBefore) {
  receiver_.answer = [first = true](const net::OutgoingRequest& request) mutable {
    const bool waits = first && request.url.contains("dead");
    if (waits) first = false;
    return waits ? std::nullopt : std::optional(FakeReceiver::status(200));
  };
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(1s);
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(1s);
  ASSERT_EQ(receiver_.open(), 1U);
  receiver_.end_all(FakeReceiver::status(410));
  scheduler_.advance(2min);
  EXPECT_EQ(reported(), States{"https://alive.example/hook gone"});
}

TEST_F(SubscriptionWatchTest, AReceiverThatFailsAndThenIsGoneIsReportedAsGoneToo) {
  dead_answers_ = 503;
  keep_publishing(dead_, 3h);
  ASSERT_EQ(reported(), States{"https://alive.example/hook failing"});
  dead_answers_ = 410;
  keep_publishing(dead_, 1h);
  EXPECT_EQ(reported(), (States{"https://alive.example/hook failing", "https://alive.example/hook gone"}));
  EXPECT_FALSE(row(dead_).active);
}

TEST_F(SubscriptionWatchTest, OneThatIsRestrictedToStoresOrWantsOtherTypesIsNotNotified) {
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET integration_ids = 'int_0000000000001' WHERE id = $1"}, alive_);
  });
  const auto narrow = subscribe("https://narrow.example/hook");
  const auto wanting = subscribe("https://wanting.example/hook");
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET event_types = 'delivery.completed' WHERE id = $1"}, narrow);
    tx.exec({"UPDATE webhook_subscriptions SET event_types = 'subscription.failing' WHERE id = $1"}, wanting);
  });
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(2h);
  EXPECT_EQ(reported(), States{"https://wanting.example/hook failing"});
}

// A node of an earlier program records attempts and knows nothing of failing_since.
TEST_F(SubscriptionWatchTest, ASuccessThatAnEarlierProgramRecordedCounts) {
  publish({dead_});
  dispatcher_->wake();
  scheduler_.advance(30min);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"INSERT INTO webhook_attempts (subscription_id, id, send_id, event_id, at, status_code, "
             "duration_ms, outcome, answer) VALUES ($1, $2, 1, 1, $3, 200, 1, 'succeeded', '')"},
            dead_, ids_.next(), tx.now());
  });
  scheduler_.advance(35min);
  EXPECT_EQ(reported(), States{});
  EXPECT_EQ(row(dead_).failing_since, std::nullopt);
}

}  // namespace
}  // namespace presetbridge::services::testing
