// When work of a cloud account stops for trouble of the platform and when it goes on is told once each (spec
// 12.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "services/testing.h"
#include "services/worker/account_trouble.h"

namespace presetbridge::services {
namespace {

using std::chrono::seconds;
using storage::Tx;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PlatformNewsTest : public ::testing::Test {
 protected:
  // What a transaction told of the account's work: the trouble, or "over".
  template <class Fn>
  std::vector<std::string> told(Fn fn) {
    std::vector<std::string> turns;
    world_.database->write([&](Tx& tx) {
      fn(tx);
      turns.clear();
      for (const auto& turn : tx.news().platform) {
        EXPECT_EQ(turn.cloud_account, world_.cloud_account);
        turns.emplace_back(turn.trouble.empty() ? "over" : turn.trouble);
      }
    });
    return turns;
  }
  std::vector<std::string> fails(std::int64_t delivery) {
    return told([&](Tx& tx) {
      storage::CustomerRow customer{.cloud_account = world_.cloud_account};
      note_failure(tx, customer, domain::CallKind::share, deliveries_.at(delivery), 0);
    });
  }
  std::vector<std::string> answers() {
    return told([&](Tx& tx) { note_success(tx, world_.cloud_account, domain::CallKind::share); });
  }

  testing::World world_;
  std::map<std::int64_t, DeliveryId> deliveries_ = at_work();

 private:
  // Deliveries that are open, since trouble ends with the work that set it.
  std::map<std::int64_t, DeliveryId> at_work() {
    world_.cloud.auto_accept = false;
    std::map<std::int64_t, DeliveryId> all;
    for (std::int64_t i = 1; i <= 4; ++i)
      all[i] = world_.deliver(world_.order(std::to_string(i), "Buyer" + std::to_string(i), {"sku-1"}));
    return all;
  }
};

TEST_F(PlatformNewsTest, AnOutageIsToldWhenItBeginsAndWhenItIsOver) {
  EXPECT_THAT(answers(), IsEmpty());
  EXPECT_THAT(fails(1), IsEmpty());
  EXPECT_THAT(fails(2), IsEmpty());
  EXPECT_THAT(answers(), IsEmpty()) << "two failures paused nothing";
  fails(1);
  fails(2);
  EXPECT_THAT(fails(3), ElementsAre("outage"));
  for (int i = 0; i < 5; ++i) EXPECT_THAT(fails(4), IsEmpty());
  EXPECT_THAT(answers(), ElementsAre("over"));
  EXPECT_THAT(answers(), IsEmpty());
}

TEST_F(PlatformNewsTest, ALimitOfThePlatformIsTold) {
  const auto limited = [&] {
    return told([&](Tx& tx) {
      note_rate_limit(tx, world_.cloud_account, domain::CallKind::share, deliveries_.at(1), seconds{30});
    });
  };
  EXPECT_THAT(limited(), ElementsAre("rate_limited"));
  EXPECT_THAT(limited(), IsEmpty());
  world_.settle(seconds{31});
  EXPECT_THAT(answers(), ElementsAre("over"));
}

}  // namespace
}  // namespace presetbridge::services
