#include "base/percent.h"

#include <gtest/gtest.h>

namespace presetbridge {
namespace {

TEST(PercentEncoding, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encoded("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encoded(" +/?&=%"), "%20%2B%2F%3F%26%3D%25");
  EXPECT_EQ(percent_encoded(std::string_view("\0\x7f", 2)), "%00%7F");
  EXPECT_EQ(percent_encoded("ä"), "%C3%A4");
  EXPECT_EQ(percent_encoded(""), "");
}

}  // namespace
}  // namespace presetbridge
