#include "services/leases/ready_scan.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

TEST(ReadyScan, BeginsAtEverythingAndThenBeforeWhatWasSeenFirstOrNow) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyScan scan(seconds{5});
  EXPECT_EQ(scan.begin(), Timestamp{});
  scan.saw(scan.begin(), start - minutes{3}, start);
  EXPECT_EQ(scan.begin(), start - minutes{3} - ReadyScan::late) << "what others hold";
  scan.saw(scan.begin(), std::nullopt, start + seconds{1});
  EXPECT_EQ(scan.begin(), start + seconds{1} - ReadyScan::late);
  scan.saw(scan.begin(), start + minutes{3}, start + seconds{2});
  EXPECT_EQ(scan.begin(), start + seconds{2} - ReadyScan::late);
}

TEST(ReadyScan, GoesBackToWhatAFullScanFoundThatOthersHadMissed) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyScan scan(seconds{5});
  EXPECT_FALSE(scan.saw_full(start - minutes{3}, {})) << "the first scan sees it";
  EXPECT_EQ(scan.begin(), Timestamp{});
  scan.saw(scan.begin(), std::nullopt, start);
  const Timestamp begin = scan.begin();
  EXPECT_FALSE(scan.saw_full(begin, {})) << "that others see too";
  EXPECT_FALSE(scan.saw_full(std::nullopt, {}));
  EXPECT_EQ(scan.begin(), begin);
  EXPECT_TRUE(scan.saw_full(begin - Millis{1}, {}));
  EXPECT_EQ(scan.begin(), begin - Millis{1} - ReadyScan::late);
  scan.saw(begin, std::nullopt, start + seconds{3});
  EXPECT_EQ(scan.begin(), begin - Millis{1} - ReadyScan::late) << "a scan that began after it saw none of it";
  scan.saw(scan.begin(), std::nullopt, start + seconds{4});
  EXPECT_EQ(scan.begin(), start + seconds{4} - ReadyScan::late);
}

TEST(ReadyScan, BeginsAnewUntilAFullScanHasComeToItsEnd) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyScan scan(seconds{5});
  scan.saw(scan.begin(start), std::nullopt, start);
  const Timestamp begin = scan.begin(start + Millis{4'999});
  EXPECT_EQ(begin, start - ReadyScan::late);
  EXPECT_EQ(scan.begin(start + seconds{5}), Timestamp{});
  scan.saw(begin, std::nullopt, start + seconds{1});
  EXPECT_EQ(scan.begin(), Timestamp{}) << "that was no full scan";
  scan.saw(scan.begin(), std::nullopt, start + seconds{2});
  EXPECT_EQ(scan.begin(), start + seconds{2} - ReadyScan::late);
}

TEST(ReadyScan, IsFullLessOftenWhereThatTakesLong) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyScan scan(seconds{5});
  EXPECT_TRUE(scan.take_full(start));
  EXPECT_FALSE(scan.take_full(start));
  scan.saw_full(std::nullopt, Millis{200});
  scan.saw({}, std::nullopt, start + seconds{9});
  EXPECT_FALSE(scan.take_full(start + Millis{9'999}));
  EXPECT_TRUE(scan.take_full(start + seconds{10}));
  EXPECT_FALSE(scan.saw_full(fail("OVERLOADED", ""), Millis{300})) << "it failed";
  EXPECT_FALSE(scan.take_full(start + Millis{24'999}));
  EXPECT_TRUE(scan.take_full(start + seconds{25}));
}

// As a transaction leaves it that is committed long after it had asked for the time.
TEST(ReadyScan, WhatWasCommittedLateIsFoundByAFullScan) {
  World world(World::unlimited());
  world.settle();
  world.write([](storage::Tx& tx) {
    tx.exec_script("UPDATE cloud_accounts SET blocked_until = 4000000000000, ready_at = 4000000000000;");
  });
  world.settle(Millis{1});
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  world.write(
      [](storage::Tx& tx) { tx.exec_script("UPDATE cloud_accounts SET blocked_until = 0, ready_at = 1;"); });
  world.worker->wake();
  world.settle(Millis{100});
  EXPECT_EQ(world.status(id), "queued") << "behind where scans begin";
  world.settle(World::unlimited().maintenance);
  EXPECT_NE(world.status(id), "queued");
}

}  // namespace
}  // namespace presetbridge::services
