#include "domain/timeline.h"

#include <gtest/gtest.h>

namespace presetbridge::domain {
namespace {

TEST(TimelineNames, EachNameReadsAsItsValue) {
  for (const auto name : kTimelineTypeNames) EXPECT_EQ(to_string(parse_timeline_type(name).value()), name);
  for (const auto name : kTimelineKindNames) EXPECT_EQ(to_string(parse_timeline_kind(name).value()), name);
  EXPECT_EQ(to_string(TimelineType::summary), "summary");
  EXPECT_EQ(to_string(TimelineType::item_revoke_failed), "item_revoke_failed");
}

TEST(TimelineNames, AnUnknownNameIsNothing) {
  EXPECT_FALSE(parse_timeline_type(""));
  EXPECT_FALSE(parse_timeline_type("Summary"));
  EXPECT_FALSE(parse_timeline_kind("attempts"));
}

}  // namespace
}  // namespace presetbridge::domain
