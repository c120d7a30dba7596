#include "services/worker/platform_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/testing.h"
#include "identity/testing.h"

namespace presetbridge::services {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

class Gauge final : public Metrics {
 public:
  void count(std::string_view, Labels, double) noexcept override {}
  void set(std::string_view, double value, Labels) noexcept override { values.push_back(value); }
  void observe(std::string_view, double, Labels) noexcept override {}
  std::vector<double> values;
};

class PlatformHealthTest : public ::testing::Test {
 protected:
  presetbridge::testing::ManualClock clock_;
  identity::testing::RecordingLog log_;
  Gauge up_;
  PlatformHealth health_{clock_, log_, up_};
};

TEST_F(PlatformHealthTest, APlatformThatGoesAwayIsLoggedOnceAndItsReturnOnce) {
  for (int i = 0; i < 30; ++i) {
    health_.unanswered("timeout");
    clock_.advance(seconds{5});
  }
  health_.answered();
  health_.answered();
  EXPECT_EQ(log_.text,
            "the cloud platform does not answer error=timeout\n"
            "the cloud platform answers again seconds=150\n");
  EXPECT_THAT(up_.values, ElementsAre(0, 1));
}

TEST_F(PlatformHealthTest, LostAnswersAmongGoodOnesAreNoOutage) {
  for (int i = 0; i < 100; ++i) {
    for (int n = 0; n < 20; ++n) health_.unanswered("timeout");
    clock_.advance(seconds{9});
    health_.unanswered("timeout");
    health_.answered();
  }
  EXPECT_EQ(log_.text, "");
}

TEST_F(PlatformHealthTest, TwoCallsThatFailAreNoOutageHoweverLong) {
  health_.unanswered("timeout");
  clock_.advance(seconds{3'600});
  health_.unanswered("timeout");
  EXPECT_EQ(log_.text, "");
  health_.unanswered("timeout");
  EXPECT_NE(log_.text, "");
}

}  // namespace
}  // namespace presetbridge::services
