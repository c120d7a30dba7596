#include "services/operation/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "domain/trouble.h"
#include "services/testing.h"
#include "storage/stores/node_store.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using std::chrono::seconds;
using storage::Tx;

class Gauges final : public Metrics {
 public:
  void count(std::string_view, Labels, double) noexcept override {}
  void set(std::string_view name, double value, Labels labels) noexcept override {
    std::string key(name);
    for (const auto& [label, text] : labels) key.append(" ").append(text);
    values[key] = value;
  }
  void observe(std::string_view, double, Labels) noexcept override {}
  double operator[](const std::string& name) const { return values.at("presetbridge_" + name); }
  std::map<std::string, double> values;
};

class CensusTest : public ::testing::Test {
 protected:
  ~CensusTest() override {
    bool stopped = false;
    census_.stop([&] { stopped = true; });
    world_.settle();
    EXPECT_TRUE(stopped);
  }

  testing::World world_;
  Gauges gauges_;
  Census census_{world_.scheduler, world_.database.clock, world_.async_db, world_.log, gauges_, {}};
};

TEST_F(CensusTest, CountsWhatWaitsByStageAndReturnsTheAgeOfTheOldest) {
  static constexpr storage::Sql review{"UPDATE deliveries SET status = 'in_review', open = 0 WHERE id = $1"};
  static constexpr storage::Sql done{
      "UPDATE deliveries SET status = 'completed', open = 0, completed_at = 1 WHERE id = $1"};
  world_.write([](Tx& tx) {
    tx.exec({"UPDATE cloud_accounts SET blocked_until = $1, ready_at = $1"}, tx.now() + seconds{600});
  });
  const auto first = world_.accept(world_.order("1", "Ann", {"sku-1"})).delivery.value();
  world_.settle(seconds{30});
  const auto second = world_.accept(world_.order("2", "Bob", {"sku-1"})).delivery.value();
  const auto third = world_.accept(world_.order("3", "Cid", {"sku-1"})).delivery.value();
  census_.start();
  world_.settle(seconds{15});
  EXPECT_EQ(gauges_["backlog queued"], 3);
  EXPECT_NEAR(gauges_["backlog_oldest_age_seconds queued"], 40, 1);
  EXPECT_EQ(gauges_["backlog in_review"], 0);
  EXPECT_EQ(gauges_["backlog_oldest_age_seconds in_review"], 0);
  EXPECT_EQ(gauges_["backlog webhook"], 0);

  world_.write([&](Tx& tx) {
    tx.exec(review, first);
    tx.exec(done, third);
  });
  world_.settle(seconds{10});
  EXPECT_EQ(gauges_["backlog queued"], 1);
  EXPECT_NEAR(gauges_["backlog_oldest_age_seconds queued"], 20, 1);
  EXPECT_EQ(gauges_["backlog in_review"], 1);
  EXPECT_NEAR(gauges_["backlog_oldest_age_seconds in_review"], 50, 1);
  EXPECT_EQ(gauges_["backlog_counted_timestamp_seconds"],
            static_cast<double>(to_unix_ms(world_.database.clock.now()) / 1'000 - 5));
  EXPECT_TRUE(second);
}

TEST_F(CensusTest, AWebhookThatWaitsForATurnedOffSubscriptionIsNoBacklog) {
  const auto subscribe = [&] {
    storage::SubscriptionRow row{.id = world_.ids.make<SubscriptionId>(),
                                 .account = world_.account,
                                 .url = "https://shop.example/",
                                 .encrypted_secret = std::vector<std::byte>(3)};
    world_.write([&](Tx& tx) { insert_subscription(tx, row); });
    return row;
  };
  const auto leave_waiting = [&](SubscriptionId subscription) {
    world_.write([&](Tx& tx) {
      const auto event = world_.ids.make<EventId>();
      insert_events(tx, std::array{storage::EventRow{.id = event,
                                                     .account = world_.account,
                                                     .type = "webhook.test",
                                                     .uuid = to_string(event),
                                                     .body = "{}",
                                                     .created_at = tx.now()}});
      insert_dispatches(tx,
                        std::array{storage::DispatchRow{world_.ids.next(), subscription, event, tx.now()}});
    });
  };
  auto off = subscribe();
  const auto on = subscribe();
  leave_waiting(off.id);
  world_.settle(seconds{30});
  leave_waiting(on.id);
  leave_waiting(on.id);
  census_.start();
  world_.settle(seconds{1});
  EXPECT_EQ(gauges_["backlog webhook"], 3);
  EXPECT_NEAR(gauges_["backlog_oldest_age_seconds webhook"], 30, 1);
  world_.write([&](Tx& tx) {
    off.active = false;
    update_subscription(tx, off);
  });
  world_.settle(seconds{15});
  EXPECT_EQ(gauges_["backlog webhook"], 2);
  EXPECT_LT(gauges_["backlog_oldest_age_seconds webhook"], 20);
}

TEST_F(CensusTest, CountsPausedAccountsAndNodesByRole) {
  world_.write([&](Tx& tx) {
    auto row = lock_cloud_account(tx, world_.cloud_account).value();
    row.trouble = domain::encode(
        domain::after_rate_limit({}, domain::CallKind::share, DeliveryId{1}, std::nullopt, tx.now()));
    update_cloud_account(tx, row);
    for (const auto& [owner, roles] : {std::pair("one", "api,worker"), std::pair("two", "worker")}) {
      const auto number = storage::take_node_number(tx, owner, tx.now() + seconds{600}).value();
      EXPECT_TRUE(storage::keep_node_number(tx, number, owner, tx.now() + seconds{600}, roles));
    }
    EXPECT_TRUE(storage::take_node_number(tx, "of an earlier version", tx.now() + seconds{600}));
  });
  const auto refuse = [&](const char* cloud_user, bool unreadable) {
    const auto tenant = world_.add_tenant(cloud_user);
    world_.write([&](Tx& tx) {
      auto standing = lock_standing(tx, tenant.account).value();
      standing.status = storage::CredentialsStatus::invalid;
      standing.unreadable = unreadable;
      update_standing(tx, tenant.account, standing);
    });
  };
  refuse("m-2", false);
  refuse("m-3", true);
  census_.start();
  world_.settle(seconds{1});
  EXPECT_EQ(gauges_["cloud_accounts_paused login_refused"], 1) << "one that does not open is another fault";
  EXPECT_EQ(gauges_["cloud_accounts_paused rate_limited"], 1);
  EXPECT_EQ(gauges_["cloud_accounts_paused outage"], 0);
  EXPECT_EQ(gauges_["nodes_seen api"], 1);
  EXPECT_EQ(gauges_["nodes_seen worker"], 2);
  EXPECT_EQ(gauges_["nodes_seen dispatcher"], 0);
  world_.settle(seconds{150});
  EXPECT_EQ(gauges_["nodes_seen worker"], 0) << "they have not renewed their numbers";
}

}  // namespace
}  // namespace presetbridge::services
