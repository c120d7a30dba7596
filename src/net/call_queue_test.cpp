#include "net/call_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace presetbridge::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<CallId> all_next(CallQueue& queue) {
  std::vector<CallId> out;
  while (const auto call = queue.next()) out.push_back(*call);
  return out;
}

TEST(CallQueue, BoundsTheCallsToOneHost) {
  CallQueue queue(10, 2);
  for (CallId call : {1, 2, 3, 4}) queue.wait("a", call);
  EXPECT_THAT(all_next(queue), ElementsAre(1, 2));
  queue.ended("a");
  EXPECT_THAT(all_next(queue), ElementsAre(3));
  EXPECT_EQ(queue.waiting(), 1U);
}

TEST(CallQueue, BoundsAllCalls) {
  CallQueue queue(3, 2);
  for (CallId call : {1, 2, 3, 4, 5}) queue.wait("host" + std::to_string(call), call);
  EXPECT_THAT(all_next(queue), ElementsAre(1, 2, 3));
  queue.ended("host2");
  EXPECT_THAT(all_next(queue), ElementsAre(4));
}

TEST(CallQueue, HostsTakeTurnsHoweverManyCallsOneHas) {
  CallQueue queue(3, 100);
  for (CallId call = 1; call <= 50; ++call) queue.wait("busy", call);
  queue.wait("quiet", 51);
  EXPECT_THAT(all_next(queue), ElementsAre(1, 51, 2));
}

TEST(CallQueue, AHostThatIsFullHoldsUpNobody) {
  CallQueue queue(10, 1);
  for (CallId call : {1, 2, 3}) queue.wait("slow", call);
  queue.wait("other", 4);
  EXPECT_THAT(all_next(queue), ElementsAre(1, 4));
}

TEST(CallQueue, ACallThatGaveUpDoesNotStart) {
  CallQueue queue(10, 1);
  for (CallId call : {1, 2, 3}) queue.wait("a", call);
  EXPECT_THAT(all_next(queue), ElementsAre(1));
  queue.gave_up("a", 2);
  queue.gave_up("a", 2);
  queue.gave_up("unknown", 9);
  EXPECT_EQ(queue.waiting(), 1U);
  queue.ended("a");
  EXPECT_THAT(all_next(queue), ElementsAre(3));
}

TEST(CallQueue, AHostWhoseCallsAllGaveUpBeforeItsTurnIsSkipped) {
  CallQueue queue(10, 1);
  queue.wait("a", 1);
  queue.gave_up("a", 1);
  EXPECT_THAT(all_next(queue), IsEmpty());
  queue.wait("a", 2);
  EXPECT_THAT(all_next(queue), ElementsAre(2));
}

}  // namespace
}  // namespace presetbridge::net
