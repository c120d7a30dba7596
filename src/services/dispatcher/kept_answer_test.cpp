#include "services/dispatcher/kept_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "storage/sql_text.h"

namespace presetbridge::services {
namespace {

TEST(KeptAnswer, KeepsTextAndReplacesWhatIsNone) {
  EXPECT_EQ(kept_answer("fine \xE2\x82\xAC \xF0\x9F\x98\x80"), "fine \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(kept_answer(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(kept_answer("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(kept_answer("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(KeptAnswer, IsCutBetweenCharacters) {
  std::string body(kKeptAnswerBytes - 1, 'x');
  EXPECT_EQ(kept_answer(body + "\xE2\x82\xAC and more"), body);
  EXPECT_EQ(kept_answer(body + "yz"), body + "y");
}

TEST(KeptAnswer, OfAnyBytesCanBeStored) {
  EXPECT_TRUE(rc::check("the storage takes it, and it is short", [](const std::string& body) {
    const auto kept = kept_answer(body);
    RC_ASSERT(kept.size() <= kKeptAnswerBytes);
    storage::check_text(kept);
  }));
}

}  // namespace
}  // namespace presetbridge::services
