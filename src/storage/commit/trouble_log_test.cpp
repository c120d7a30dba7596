#include "storage/commit/trouble_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/testing.h"

namespace presetbridge::storage {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Lines final : public Log {
 public:
  void write(Severity, std::string_view message, std::span<const LogField> fields) noexcept override {
    std::string line(message);
    for (const auto& field : fields) {
      line.append(" ").append(field.name).append("=");
      if (const auto* text = std::get_if<std::string_view>(&field.value)) {
        line += *text;
      } else {
        line += std::to_string(std::get<std::int64_t>(field.value));
      }
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

TEST(TroubleLog, SaysWhenItBeginsWhenItIsOverAndOnceAMinuteBetween) {
  presetbridge::testing::ManualClock clock;
  Lines log;
  TroubleLog trouble(log, &clock, "writes");
  trouble.worked();
  for (int i = 0; i < 130; ++i) {
    trouble.failed("disk full");
    clock.advance(seconds{1});
  }
  clock.advance(seconds{20});
  for (int i = 0; i < 10; ++i) trouble.worked();
  EXPECT_THAT(
      log.lines,
      ElementsAre("the storage is in trouble what=writes cause=disk full",
                  "the storage is still in trouble what=writes cause=disk full failures=61 seconds=60",
                  "the storage is still in trouble what=writes cause=disk full failures=121 seconds=120",
                  "the storage works again what=writes failures=130 seconds=129"));
  trouble.failed("again");
  EXPECT_THAT(log.lines.back(), HasSubstr("is in trouble what=writes cause=again"));
}

TEST(TroubleLog, TroubleThatComesAndGoesIsOneTrouble) {
  presetbridge::testing::ManualClock clock;
  Lines log;
  TroubleLog trouble(log, &clock, "writes");
  for (int i = 0; i < 50; ++i) {
    trouble.failed("disk full");
    clock.advance(seconds{1});
    trouble.worked();
  }
  EXPECT_EQ(log.lines.size(), 1u);
  clock.advance(seconds{10});
  trouble.worked();
  EXPECT_EQ(log.lines.size(), 2u);
}

TEST(TroubleLog, WithoutAClockTheFirstSuccessEndsIt) {
  Lines log;
  TroubleLog trouble(log, nullptr, "reads");
  trouble.failed("away");
  trouble.failed("away");
  trouble.worked();
  EXPECT_EQ(log.lines.size(), 2u);
}

}  // namespace
}  // namespace presetbridge::storage
