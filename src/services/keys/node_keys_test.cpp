#include "services/keys/node_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NodeKeys, TheFirstOfTheFileThatIsUsedSeals) {
  EXPECT_EQ(sealing_key({"new", "old"}, {"old"}), "old");
  EXPECT_EQ(sealing_key({"new", "old"}, {"old", "new"}), "new");
  EXPECT_EQ(sealing_key({"newer", "new", "old"}, {"old", "new"}), "new");
  EXPECT_EQ(sealing_key({"new", "old"}, {"another"}), "");
  EXPECT_EQ(sealing_key({"new", "old"}, {"old"}, "new"), "new") << "an answer of before";
  EXPECT_EQ(sealing_key({"new"}, {"new"}, "old"), "new") << "it was dropped";
}

TEST(NodeKeys, WhatIsUsedAndNotHeldIsLacking) {
  EXPECT_THAT(lacking_keys({"new", "old"}, {"old"}), IsEmpty());
  EXPECT_THAT(lacking_keys({"old"}, {"old", "new"}), ElementsAre("new"));
}

TEST(NodeKeys, ComeOutAsTheyWentIn) {
  const NodeKeys keys{.vault = {{"a", "b"}, "b"}, .service = {{"c"}, "c"}};
  EXPECT_EQ(to_text(keys), "vault:a vault:b* service:c*");
  EXPECT_EQ(parse_node_keys(to_text(keys)), keys);
  EXPECT_EQ(parse_node_keys(""), NodeKeys());
  EXPECT_EQ(parse_node_keys("what other:x : vault:a"), (NodeKeys{.vault = {{"a"}, ""}, .service = {}}));
}

}  // namespace
}  // namespace presetbridge::services
