#include "services/ready_look.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

TEST(ReadyLook, BeginsAtEverythingAndThenBeforeWhatWasSeenFirstOrNow) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  EXPECT_EQ(look.begin(), Timestamp{});
  look.saw(look.begin(), start - minutes{3}, start);
  EXPECT_EQ(look.begin(), start - minutes{3} - ReadyLook::late) << "what others hold";
  look.saw(look.begin(), std::nullopt, start + seconds{1});
  EXPECT_EQ(look.begin(), start + seconds{1} - ReadyLook::late);
  look.saw(look.begin(), start + minutes{3}, start + seconds{2});
  EXPECT_EQ(look.begin(), start + seconds{2} - ReadyLook::late);
}

TEST(ReadyLook, GoesBackToWhatALookAtEverythingFoundThatOthersHadMissed) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  EXPECT_FALSE(look.saw_everything(start - minutes{3}, {})) << "the first look sees it";
  EXPECT_EQ(look.begin(), Timestamp{});
  look.saw(look.begin(), std::nullopt, start);
  const Timestamp begin = look.begin();
  EXPECT_FALSE(look.saw_everything(begin, {})) << "that others see too";
  EXPECT_FALSE(look.saw_everything(std::nullopt, {}));
  EXPECT_EQ(look.begin(), begin);
  EXPECT_TRUE(look.saw_everything(begin - Millis{1}, {}));
  EXPECT_EQ(look.begin(), begin - Millis{1} - ReadyLook::late);
  look.saw(begin, std::nullopt, start + seconds{3});
  EXPECT_EQ(look.begin(), begin - Millis{1} - ReadyLook::late) << "a look that began after it saw none of it";
  look.saw(look.begin(), std::nullopt, start + seconds{4});
  EXPECT_EQ(look.begin(), start + seconds{4} - ReadyLook::late);
}

TEST(ReadyLook, BeginsAnewUntilALookHasComeToItsEnd) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  look.saw(look.begin(), std::nullopt, start);
  const Timestamp begin = look.begin();
  look.begin_anew();
  EXPECT_EQ(look.begin(), Timestamp{});
  look.saw(begin, std::nullopt, start + seconds{1});
  EXPECT_EQ(look.begin(), Timestamp{}) << "that was not such a look";
  look.saw(look.begin(), std::nullopt, start + seconds{2});
  EXPECT_EQ(look.begin(), start + seconds{2} - ReadyLook::late);
}

TEST(ReadyLook, LooksAtEverythingLessOftenWhereThatTakesLong) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  EXPECT_TRUE(look.take_everything(start));
  EXPECT_FALSE(look.take_everything(start));
  look.saw_everything(std::nullopt, Millis{200});
  look.saw({}, std::nullopt, start + seconds{9});
  EXPECT_FALSE(look.take_everything(start + Millis{9'999}));
  EXPECT_TRUE(look.take_everything(start + seconds{10}));
  EXPECT_FALSE(look.saw_everything(fail("OVERLOADED", ""), Millis{300})) << "it failed";
  EXPECT_FALSE(look.take_everything(start + Millis{24'999}));
  EXPECT_TRUE(look.take_everything(start + seconds{25}));
}

// As a transaction leaves it that is committed long after it had asked for the time.
TEST(ReadyLook, WhatWasCommittedLateIsFoundByALookAtEverything) {
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
  EXPECT_EQ(world.status(id), "queued") << "behind where looks begin";
  world.settle(World::unlimited().maintenance);
  EXPECT_NE(world.status(id), "queued");
}

}  // namespace
}  // namespace presetbridge::services
