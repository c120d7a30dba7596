#include "services/webhooks/event_uuid.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/testing.h"

namespace presetbridge::services {
namespace {

TEST(EventUuid, HoldsTheEventsIdAndIsOtherwiseChance) {
  presetbridge::testing::SeededRandom random(1);
  std::set<std::string> seen;
  for (const std::int64_t value :
       {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{0x7fff},
        std::int64_t{0x123456789abcdef}, std::numeric_limits<std::int64_t>::max()}) {
    for (int i = 0; i < 2; ++i) {
      const auto uuid = event_uuid(EventId{value}, random);
      EXPECT_EQ(uuid.size(), 36U);
      EXPECT_EQ(uuid[14], '8') << uuid;
      EXPECT_TRUE(std::string_view("89ab").contains(uuid[19])) << uuid;
      EXPECT_EQ(event_of(uuid), EventId{value}) << uuid;
      EXPECT_TRUE(seen.insert(uuid).second);
    }
  }
}

TEST(EventUuid, AnyOtherTextHoldsNone) {
  presetbridge::testing::SeededRandom random(1);
  const auto uuid = event_uuid(EventId{1234567}, random);
  for (auto text : {std::string(), uuid.substr(1), uuid + "0", "X" + uuid.substr(1),
                    std::string("0b7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11"),
                    std::string("00000000-0000-8000-8000-000000000000")}) {
    EXPECT_EQ(event_of(text), std::nullopt) << text;
  }
  auto upper = uuid;
  upper[8] = '0';
  EXPECT_EQ(event_of(upper), std::nullopt);
}

}  // namespace
}  // namespace presetbridge::services
