#include "services/ready_look.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::World;

TEST(ReadyLook, GoesBackToWhatWasSeenFirstAndNowAndThenToTheBeginning) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  EXPECT_EQ(look.begin(start), Timestamp{});
  EXPECT_EQ(look.begin(start), Timestamp{}) << "until a look has come to its end";
  look.saw(start - minutes{3}, start, {});
  EXPECT_EQ(look.begin(start + seconds{1}), start - minutes{3} - ReadyLook::late) << "what others hold";
  look.saw(std::nullopt, start + seconds{1}, {});
  EXPECT_EQ(look.begin(start + seconds{2}), start + seconds{1} - ReadyLook::late);
  look.saw(start + minutes{3}, start + seconds{2}, {});
  EXPECT_EQ(look.begin(start + seconds{4}), start + seconds{2} - ReadyLook::late);
  EXPECT_EQ(look.begin(start + seconds{5}), Timestamp{});
}

TEST(ReadyLook, LooksAtEverythingLessOftenWhereThatTakesLong) {
  const Timestamp start = from_unix_ms(1'790'000'000'000);
  ReadyLook look(seconds{5});
  EXPECT_EQ(look.begin(start), Timestamp{});
  look.saw(std::nullopt, start, Millis{200});
  EXPECT_NE(look.begin(start + Millis{9'999}), Timestamp{});
  look.saw(std::nullopt, start + seconds{9}, seconds{7});  // not of such a look
  EXPECT_EQ(look.begin(start + seconds{10}), Timestamp{});
  look.saw(std::nullopt, start + seconds{10}, seconds{7});
  EXPECT_NE(look.begin(start + Millis{24'999}), Timestamp{});
  EXPECT_EQ(look.begin(start + seconds{25}), Timestamp{});
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
  world.worker->wake();
  world.settle();
  EXPECT_NE(world.status(id), "queued");
}

}  // namespace
}  // namespace presetbridge::services
