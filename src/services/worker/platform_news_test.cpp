// When work of a cloud account stops for trouble of the platform and when it goes on is told once each (spec
// 12.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    return told([&](Tx& tx) { pause_after_failure(tx, world_.cloud_account, DeliveryId{delivery}); });
  }
  std::vector<std::string> answers() {
    return told([&](Tx& tx) { end_account_trouble(tx, world_.cloud_account); });
  }

  testing::World world_;
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
    return told([&](Tx& tx) { pause_for_rate_limit(tx, world_.cloud_account, seconds{30}); });
  };
  EXPECT_THAT(limited(), ElementsAre("rate_limited"));
  EXPECT_THAT(limited(), IsEmpty());
  EXPECT_THAT(answers(), ElementsAre("over"));
}

}  // namespace
}  // namespace presetbridge::services
