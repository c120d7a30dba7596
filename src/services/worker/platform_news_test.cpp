// It is reported once when work of a cloud account stops for trouble of the platform, and once when it goes
// on (spec 12.3).
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
  // The reports of a transaction about the account's work: the trouble, or "over".
  template <class Fn>
  std::vector<std::string> reported(Fn fn) {
    std::vector<std::string> news;
    world_.database->write([&](Tx& tx) {
      fn(tx);
      news.clear();
      for (const auto& one : tx.news().platform) {
        EXPECT_EQ(one.cloud_account, world_.cloud_account);
        news.emplace_back(one.trouble.empty() ? "over" : one.trouble);
      }
    });
    return news;
  }
  std::vector<std::string> fails(std::int64_t delivery) {
    return reported([&](Tx& tx) {
      storage::CustomerRow customer{.cloud_account = world_.cloud_account};
      note_failure(tx, customer, domain::CallKind::share, deliveries_.at(delivery), 0);
    });
  }
  std::vector<std::string> answers() {
    return reported([&](Tx& tx) { note_success(tx, world_.cloud_account, domain::CallKind::share); });
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

TEST_F(PlatformNewsTest, AnOutageIsReportedWhenItBeginsAndWhenItIsOver) {
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

TEST_F(PlatformNewsTest, ALimitOfThePlatformIsReported) {
  const auto limited = [&] {
    return reported([&](Tx& tx) {
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
