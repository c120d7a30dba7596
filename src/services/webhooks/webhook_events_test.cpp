// Looking up what was sent, sending it again, and recovering from an outage (spec 9.5), with the real
// dispatcher.
#include "services/webhooks/webhook_events.h"

#include "services/dispatcher/dispatcher_testing.h"
#include "services/webhooks/event_uuid.h"
#include "services/webhooks/subscription_watch.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services::testing {
namespace {

using storage::SentEventFilter;
using storage::SentStatus;

class WebhookEventsTest : public DispatcherTest {
 protected:
  static constexpr SubscriptionWatch::Pace kPace{.batch = 3};

  std::unique_ptr<SubscriptionWatch> watch() {
    auto made = std::make_unique<SubscriptionWatch>(
        scheduler_, *async_db_, ids_, random_, log_,
        [this] {
          if (dispatcher_) dispatcher_->wake();
        },
        kPace);
    made->start();
    return made;
  }
  void stop(SubscriptionWatch& watch) {
    bool stopped = false;
    watch.stop([&] { stopped = true; });
    scheduler_.run();
    EXPECT_TRUE(stopped);
  }
  void start() { dispatcher_ = dispatcher({.poll = 1h, .maintenance = 1h}); }
  ~WebhookEventsTest() override {
    if (dispatcher_) DispatcherTest::stop(*dispatcher_);
  }

  template <class T>
  T await(Task<T> task) {
    std::optional<T> result;
    spawn(std::move(task), [&](Outcome<T> o) { result = std::move(o.value); });
    for (int i = 0; i < 100 && !result; ++i) scheduler_.run();
    return std::move(result.value());
  }
  static identity::Principal merchant(AccountId account = kAccount) {
    return {.account = account, .permissions = identity::PermissionSet::all()};
  }
  std::string event(SubscriptionId subscription, DeliveryId delivery = DeliveryId{5},
                    std::string type = "delivery.completed") {
    const auto id = ids_.make<EventId>();
    const auto uuid = event_uuid(id, random_);
    db_->write([&](storage::Tx& tx) {
      insert_events(tx, std::array{storage::EventRow{id, kAccount, delivery, 1, type, uuid,
                                                     R"({"id":")" + uuid + R"("})", tx.now()}});
      insert_dispatches(tx, std::array{storage::DispatchRow{ids_.next(), subscription, id, tx.now()}});
    });
    if (dispatcher_) dispatcher_->wake();
    scheduler_.run();
    return uuid;
  }
  std::vector<std::string> listed(SubscriptionId id, SentEventFilter filter, int limit = 50) {
    std::vector<std::string> uuids;
    storage::PageRequest page{.limit = limit};
    while (true) {
      auto found = await(events_.list(scheduler_, merchant(), id, filter, page)).value();
      for (const auto& row : found.rows) uuids.push_back(row.uuid);
      if (!found.next) return uuids;
      page.before = *found.next;
    }
  }
  SentEventView get(SubscriptionId id, const std::string& uuid) {
    return await(events_.get(scheduler_, merchant(), id, uuid)).value();
  }
  std::size_t received(const std::string& uuid) {
    return static_cast<std::size_t>(std::ranges::count_if(
        receiver_.requests, [&](const auto& request) { return header(request, "webhook-id") == uuid; }));
  }

  std::unique_ptr<WebhookDispatcher> dispatcher_;
  WebhookEvents events_{*async_db_, ids_, [this] {
                          if (dispatcher_) dispatcher_->wake();
                        }};
};

TEST_F(WebhookEventsTest, EachStatusIsListedNewestFirstByPages) {
  const auto hook = subscribe("https://shop.example/hook");
  start();
  std::map<int, std::vector<std::string>> by_answer;
  for (int i = 0; i < 12; ++i) {
    const int status = std::array{200, 404, 503}[static_cast<std::size_t>(i % 3)];
    receiver_.answer = [status](const auto&) { return FakeReceiver::status(status); };
    by_answer[status].push_back(event(hook));
    scheduler_.advance(1s);
  }
  for (auto& [status, uuids] : by_answer) std::ranges::reverse(uuids);
  for (const int limit : {1, 3, 50}) {
    EXPECT_EQ(listed(hook, {.status = SentStatus::succeeded}, limit), by_answer[200]) << limit;
    EXPECT_EQ(listed(hook, {.status = SentStatus::permanent}, limit), by_answer[404]) << limit;
    EXPECT_EQ(listed(hook, {.status = SentStatus::waiting}, limit), by_answer[503]) << limit;
    EXPECT_EQ(listed(hook, {}, limit).size(), 12U);
  }
  scheduler_.advance(48h);
  EXPECT_EQ(listed(hook, {.status = SentStatus::exhausted}), by_answer[503]);
  EXPECT_TRUE(listed(hook, {.status = SentStatus::waiting}).empty());
  EXPECT_TRUE(listed(subscribe("https://other.example/hook"), {}).empty());
}

// Spec 6.2: the subscription had a wider scope when the events were sent.
TEST_F(WebhookEventsTest, AKeyOfOneStoreSeesNoEventsOfAnother) {
  const IntegrationId own{21};
  const IntegrationId other{22};
  const auto hook = subscribe("https://shop.example/hook");
  start();
  db_->write([&](storage::Tx& tx) {
    std::array rows = {storage::DeliveryRow{.id = DeliveryId{5}, .account = kAccount, .integration = own},
                       storage::DeliveryRow{.id = DeliveryId{6}, .account = kAccount, .integration = other}};
    rows[0].order_key = "5";
    rows[1].order_key = "6";
    insert_deliveries(tx, rows);
  });
  const auto seen = event(hook, DeliveryId{5});
  const auto hidden = event(hook, DeliveryId{6});
  const auto test = event(hook, DeliveryId{}, "webhook.test");
  const auto credits = event(hook, DeliveryId{}, "credits.low");
  const auto unmapped = event(hook, DeliveryId{}, "order.unmapped");
  db_->write([&](storage::Tx& tx) {
    const std::string body = R"({"integrationId":")" + to_string(own) + R"("})";
    tx.exec({"UPDATE outbound_events SET body = $2 WHERE uuid = $1"}, unmapped,
            std::as_bytes(std::span(body)));
    tx.exec({"UPDATE webhook_subscriptions SET integration_ids = $2 WHERE id = $1"}, hook, to_string(own));
  });
  auto key = merchant();
  key.integrations = identity::IntegrationScope({own});
  std::vector<std::string> uuids;
  const auto page = await(events_.list(scheduler_, key, hook, {}, {}));
  ASSERT_TRUE(page) << page.error().message << log_.text;
  for (const auto& row : page->rows) uuids.push_back(row.uuid);
  EXPECT_EQ(uuids, (std::vector{unmapped, test, seen}));
  EXPECT_TRUE(await(events_.get(scheduler_, key, hook, seen)));
  for (const auto& uuid : {hidden, credits}) {
    EXPECT_EQ(await(events_.get(scheduler_, key, hook, uuid)).error().code, "NOT_FOUND");
    EXPECT_EQ(await(events_.resend(scheduler_, key, hook, uuid)).error().code, "NOT_FOUND");
  }
  EXPECT_EQ(listed(hook, {}).size(), 5U) << "the merchant sees all";
}

TEST_F(WebhookEventsTest, AKeyOfOneStoreReachesNoEventsOfAWiderScopeOfBefore) {
  const IntegrationId own{21};
  db_->write([&](storage::Tx& tx) {
    tx.exec({"INSERT INTO integrations (id, account_id, name, provider, encrypted_secret, secret_preview, "
             "created_at)"
             " VALUES ($1, $2, 'A', 'generic', $3, 'p', 0)"},
            own, kAccount, std::as_bytes(std::span("s", 1)));
  });
  const auto hook = subscribe("https://shop.example/hook");
  start();
  receiver_.answer = [](const auto&) { return FakeReceiver::status(404); };
  const auto before = event(hook);
  scheduler_.advance(1min);
  Subscriptions subscriptions(*async_db_, ids_, random_, cipher_, net::AddressPolicy::public_https, [] {});
  ASSERT_TRUE(await(subscriptions.change(scheduler_, merchant(), hook, {.integrations = std::vector{own}})));
  scheduler_.advance(1min);
  auto key = merchant();
  key.integrations = identity::IntegrationScope({own});
  EXPECT_EQ(
      await(subscriptions.change(scheduler_, key, hook, {.url = "https://other.example/hook"})).error().code,
      "FORBIDDEN");
  EXPECT_TRUE(await(subscriptions.change(scheduler_, key, hook, {.name = "Other"})));
  EXPECT_EQ(await(events_.recover(scheduler_, key, hook, {})).error().code, "FORBIDDEN");
  EXPECT_EQ(await(events_.recover(scheduler_, merchant(), hook, {})).value().total, 1);
  EXPECT_TRUE(
      await(subscriptions.change(scheduler_, merchant(), hook, {.url = "https://other.example/hook"})));
}

TEST_F(WebhookEventsTest, EventsAreFoundByTypeDeliveryOrderAndTime) {
  const auto hook = subscribe("https://shop.example/hook");
  db_->write([](storage::Tx& tx) {
    tx.exec_script(
        "INSERT INTO orders (id, account_id, integration_id, order_key, outcome, state, received_at, "
        "updated_at, order_number) VALUES (77, 7, 1, '8209', 'delivery', '', 0, 0, '#1001');");
  });
  const auto first = event(hook, DeliveryId{77});
  const auto begin = db_.clock.now() + 1s;
  scheduler_.advance(2s);
  const auto second = event(hook, DeliveryId{78}, "delivery.failed");
  using Found = std::vector<std::string>;
  EXPECT_EQ(listed(hook, {.type = "delivery.failed"}), Found{second});
  EXPECT_EQ(listed(hook, {.delivery = DeliveryId{77}}), Found{first});
  EXPECT_EQ(listed(hook, {.status = SentStatus::waiting, .delivery = DeliveryId{77}}), Found{first});
  EXPECT_EQ(listed(hook, {.status = SentStatus::succeeded, .delivery = DeliveryId{77}}), Found{});
  for (const auto* const order : {"8209", "#1001", "1001"})
    EXPECT_EQ(listed(hook, {.order = order}), Found{first});
  EXPECT_EQ(listed(hook, {.order = "100"}), Found{});
  EXPECT_EQ(listed(hook, {.from = begin}), Found{second});
  EXPECT_EQ(listed(hook, {.to = begin}), Found{first});
  const auto row = get(hook, first).row;
  EXPECT_EQ(row.order_key, "8209");
  EXPECT_EQ(row.order_number, "#1001");
}

TEST_F(WebhookEventsTest, AnEventOfAnOrderWithoutDeliveryNamesTheOrder) {
  const auto hook = subscribe("https://shop.example/hook");
  const auto unmapped = event(hook, DeliveryId{}, "order.unmapped");
  const auto no_order = event(hook, DeliveryId{}, "order.unmapped");
  db_->write([&](storage::Tx& tx) {
    const auto write = [&](const std::string& uuid, std::string_view body) {
      tx.exec({"UPDATE outbound_events SET body = $2 WHERE uuid = $1"}, uuid, std::as_bytes(std::span(body)));
    };
    write(unmapped, R"({"deliveryId":null,"order":{"orderId":"8209","orderNumber":"#1001"}})");
    write(no_order, R"({"order":["8209"]})");
  });
  const auto row = get(hook, unmapped).row;
  EXPECT_EQ(row.order_key, "8209");
  EXPECT_EQ(row.order_number, "#1001");
  EXPECT_EQ(get(hook, no_order).row.order_key, "");
  EXPECT_EQ(listed(hook, {.order = "1001"}), std::vector{unmapped});
  const auto page = await(events_.list(scheduler_, merchant(), hook, {}, {}));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->rows.back().order_number, "#1001");
}

TEST_F(WebhookEventsTest, AnEventShowsItsBytesAndEveryAttempt) {
  const auto hook = subscribe("https://shop.example/hook");
  start();
  receiver_.answer = [](const auto&) {
    net::HttpAnswer answer{.status = 503, .headers = {}, .body = "busy"};
    answer.headers.emplace_back("content-type", "text/plain");
    return net::HttpResult{answer, Millis{12}};
  };
  const auto uuid = event(hook);
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  auto view = get(hook, uuid);
  EXPECT_EQ(view.row.status, SentStatus::waiting);
  EXPECT_EQ(view.row.due_at, db_.clock.now() + 1min);
  EXPECT_EQ(view.row.last_status_code, 503);
  scheduler_.advance(2min);
  view = get(hook, uuid);
  EXPECT_EQ(view.row.status, SentStatus::succeeded);
  EXPECT_EQ(view.body, receiver_.requests.at(0).body);
  ASSERT_EQ(view.attempts.size(), 2U);
  EXPECT_EQ(view.attempts[0].status_code, 503);
  EXPECT_EQ(view.attempts[0].content_type, "text/plain");
  EXPECT_EQ(view.attempts[0].answer, "busy");
  EXPECT_EQ(view.attempts[1].outcome, "succeeded");
}

TEST_F(WebhookEventsTest, AnEventOfAnEarlierProgramIsFoundByItsUuid) {
  const auto hook = subscribe("https://shop.example/hook");
  const std::string old = "0b7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11";
  const auto uuid = event(hook);
  db_->write([&](storage::Tx& tx) { tx.exec({"UPDATE outbound_events SET uuid = $1"}, old); });
  EXPECT_EQ(get(hook, old).row.uuid, old);
  EXPECT_EQ(await(events_.get(scheduler_, merchant(), hook, uuid)).error().code, "NOT_FOUND");
}

TEST_F(WebhookEventsTest, AnotherAccountsAndAnotherSubscriptionsEventsAreNotFound) {
  const auto hook = subscribe("https://shop.example/hook");
  const auto other = subscribe("https://other.example/hook");
  const auto uuid = event(hook);
  const auto stranger = merchant(AccountId{8});
  EXPECT_EQ(await(events_.get(scheduler_, stranger, hook, uuid)).error().code, "NOT_FOUND");
  EXPECT_EQ(await(events_.get(scheduler_, merchant(), other, uuid)).error().code, "NOT_FOUND");
  EXPECT_EQ(await(events_.list(scheduler_, stranger, hook, {}, {})).error().code, "NOT_FOUND");
  EXPECT_EQ(await(events_.resend(scheduler_, stranger, hook, uuid)).error().code, "NOT_FOUND");
  EXPECT_EQ(await(events_.recover(scheduler_, stranger, hook, {})).error().code, "NOT_FOUND");
  EXPECT_EQ(await(events_.plan_recovery(scheduler_, stranger, hook, {})).error().code, "NOT_FOUND");
}

TEST_F(WebhookEventsTest, ResendingRepeatsIdAndBytesWithAllAttemptsAgain) {
  const auto hook = subscribe("https://shop.example/hook");
  start();
  receiver_.answer = [](const auto&) { return FakeReceiver::status(503); };
  const auto uuid = event(hook);
  scheduler_.advance(48h);
  ASSERT_EQ(received(uuid), 7U);
  ASSERT_TRUE(await(events_.resend(scheduler_, merchant(), hook, uuid)));
  scheduler_.run();
  EXPECT_EQ(received(uuid), 8U);
  EXPECT_EQ(receiver_.requests.back().body, receiver_.requests.front().body);
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  scheduler_.advance(2min);
  EXPECT_EQ(received(uuid), 9U) << "the retry after a minute";
  EXPECT_EQ(get(hook, uuid).row.status, SentStatus::succeeded);
  // An event that succeeded may be sent again, too.
  ASSERT_TRUE(await(events_.resend(scheduler_, merchant(), hook, uuid)));
  scheduler_.run();
  EXPECT_EQ(received(uuid), 10U);
  EXPECT_EQ(get(hook, uuid).attempts.size(), 10U);

  receiver_.answer = [](const auto&) { return std::nullopt; };
  ASSERT_TRUE(await(events_.resend(scheduler_, merchant(), hook, uuid)));
  scheduler_.run();
  EXPECT_EQ(await(events_.resend(scheduler_, merchant(), hook, uuid)).error().code, "CONFLICT");
  db_->write([](storage::Tx& tx) { tx.exec({"UPDATE webhook_subscriptions SET active = 0"}); });
  EXPECT_EQ(await(events_.resend(scheduler_, merchant(), hook, uuid)).error().code, "CONFLICT");
  EXPECT_EQ(await(events_.recover(scheduler_, merchant(), hook, {})).error().code, "CONFLICT");
}

TEST_F(WebhookEventsTest, ARecoverySendsAllThatFailedSinceAndNothingThatSucceeded) {
  const auto hook = subscribe("https://shop.example/hook");
  const auto other = subscribe("https://other.example/hook");
  start();
  receiver_.answer = [](const auto&) { return FakeReceiver::status(404); };
  const auto before = event(hook);
  scheduler_.advance(1h);
  const Timestamp since = db_.clock.now();
  std::vector<std::string> failed;
  for (int i = 0; i < 10; ++i) failed.push_back(event(hook));
  const auto of_other = event(other);
  receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  const auto succeeded = event(hook);
  scheduler_.advance(1s);

  auto w = watch();
  EXPECT_EQ(await(events_.plan_recovery(scheduler_, merchant(), hook, since)).value().total, 10);
  w->wake();
  scheduler_.advance(1min);
  EXPECT_EQ(received(failed.front()), 1U) << "a plan sends nothing";
  const auto begun = await(events_.recover(scheduler_, merchant(), hook, since)).value();
  EXPECT_EQ(begun.total, 10);
  EXPECT_TRUE(begun.exact);
  // The process dies after a batch: the recovery goes on with the next one.
  w->wake();
  scheduler_.run();
  stop(*w);
  EXPECT_EQ(received(failed.front()), 2U);
  EXPECT_EQ(received(failed.back()), 1U) << "a piece at a time";
  auto next = watch();
  scheduler_.advance(1min);
  for (const auto& uuid : failed) {
    EXPECT_EQ(received(uuid), 2U);
    EXPECT_EQ(get(hook, uuid).row.status, SentStatus::succeeded);
  }
  for (const auto& uuid : {before, of_other, succeeded}) EXPECT_EQ(received(uuid), 1U);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_recoveries"}), 0);
  EXPECT_EQ(await(events_.recover(scheduler_, merchant(), hook, since)).value().total, 0);
  scheduler_.advance(1min);
  for (const auto& uuid : failed) EXPECT_EQ(received(uuid), 2U);
  stop(*next);
}

TEST_F(WebhookEventsTest, WhatFailsAgainDuringItsRecoveryIsNotInItTwice) {
  const auto hook = subscribe("https://shop.example/hook");
  start();
  receiver_.answer = [](const auto&) { return FakeReceiver::status(404); };
  std::vector<std::string> failed;
  for (int i = 0; i < 10; ++i) failed.push_back(event(hook));
  scheduler_.advance(1s);
  auto w = watch();
  ASSERT_EQ(await(events_.recover(scheduler_, merchant(), hook, {})).value().total, 10);
  scheduler_.advance(5min);
  for (const auto& uuid : failed) EXPECT_EQ(received(uuid), 2U);
  EXPECT_EQ(count({"SELECT count(*) FROM webhook_recoveries"}), 0);
  stop(*w);
}

}  // namespace
}  // namespace presetbridge::services::testing
