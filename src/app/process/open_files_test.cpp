#include "app/process/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace presetbridge::app {
namespace {

TEST(OpenFiles, ConnectionsGetWhatIsLeft) {
  const Config config;
  const auto own = own_files(config, 4);
  EXPECT_GE(own, config.outbound_concurrency + config.cloud_concurrency);
  EXPECT_EQ(connections_within(config, 4, 1'048'576), 10'000);
  EXPECT_EQ(connections_within(config, 4, own + 10'000), 10'000);
  EXPECT_EQ(connections_within(config, 4, own + 9'999), 9'999);
  EXPECT_EQ(connections_within(config, 4, own + 128), 128);
}

TEST(OpenFiles, ALimitThatIsTooLowIsReportedWithWhatIsNeeded) {
  const Config config;
  const auto own = own_files(config, 4);
  const auto refused = connections_within(config, 4, own + 127);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "TOO_FEW_FILES");
  EXPECT_TRUE(refused.error().message.contains(std::to_string(own + 127)));
  EXPECT_TRUE(refused.error().message.contains(std::to_string(own + 128)));
}

TEST(OpenFiles, FewerConnectionsMayBeSet) {
  Config config;
  config.http_connections = 2;
  EXPECT_EQ(connections_within(config, 4, own_files(config, 4) + 2), 2);
  EXPECT_FALSE(connections_within(config, 4, own_files(config, 4) + 1));
}

TEST(OpenFiles, EachSettingThatOpensFilesCounts) {
  const Config config;
  const auto own = own_files(config, 4);
  Config more = config;
  more.outbound_concurrency += 10;
  EXPECT_EQ(own_files(more, 4), own + 10);
  more.cloud_concurrency = 10;
  EXPECT_EQ(own_files(more, 4), own + 10 - 2 * 256 + 2 * 10) << "what is kept open goes with it";
  more = config;
  more.storage_readers += 1;
  EXPECT_GT(own_files(more, 4), own);
  more = config;
  more.database_url = "postgresql://db";
  EXPECT_GT(own_files(more, 4), own);
  EXPECT_GT(own_files(config, 5), own);
}

TEST(OpenFiles, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto raised = raise_open_files();
  rlimit now{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  EXPECT_EQ(raised, static_cast<std::int64_t>(std::min<rlim_t>(before.rlim_max, 1'000'000'000)));
}

}  // namespace
}  // namespace presetbridge::app
