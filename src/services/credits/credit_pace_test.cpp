#include "services/credits/credit_pace.h"

#include <gtest/gtest.h>

#include "services/payments/payments_testing.h"

namespace presetbridge::services {
namespace {

class CreditPaceTest : public ::testing::Test {
 protected:
  CreditPaceTest() {
    const auto bought = world_.buy("large");
    world_.processor.pay(bought.session);
    EXPECT_TRUE(world_.settle(bought.id));
  }
  CreditPace pace() {
    CreditPace found;
    world_.db->read([&](storage::Tx& tx) {
      found = credit_pace(tx, world_.me.account, find_balance(tx, world_.me.account).value());
    });
    return found;
  }
  testing::PaymentsWorld world_;
};

TEST_F(CreditPaceTest, IsNoneWhereNothingIsSpent) {
  EXPECT_EQ(pace().per_day_hundredths, 0);
  EXPECT_FALSE(pace().runs_out_at);
}

TEST_F(CreditPaceTest, IsOverADayAtLeastAndAWeekAtMost) {
  world_.spend(world_.me, 40);
  EXPECT_EQ(pace().per_day_hundredths, 4'000);
  EXPECT_EQ(pace().runs_out_at, world_.clock().now() + std::chrono::hours{24 * 460 / 40});
  world_.clock().advance(std::chrono::days{4});
  world_.spend(world_.me, 20);
  EXPECT_EQ(pace().per_day_hundredths, 1'500);
  world_.clock().advance(std::chrono::days{5});
  EXPECT_EQ(pace().per_day_hundredths, 286) << "what is older than a week counts no more";
  world_.clock().advance(std::chrono::days{30});
  EXPECT_EQ(pace().per_day_hundredths, 0);
}

TEST_F(CreditPaceTest, OfAnAccountThatSharesMuchIsOverItsNewestEntries) {
  world_.db->write([&](storage::Tx& tx) { update_balance(tx, world_.me.account, {.granted = 10'000}); });
  world_.clock().advance(std::chrono::days{3});
  world_.spend(world_.me, 1'000);
  world_.clock().advance(std::chrono::hours{12});
  world_.spend(world_.me, kMostPaceEntries - 1);
  world_.clock().advance(std::chrono::hours{12});
  // The 2,000 newest: one of a day ago, and the rest of half a day ago.
  EXPECT_NEAR(pace().per_day_hundredths, 100 * kMostPaceEntries, 100);
}

}  // namespace
}  // namespace presetbridge::services
