#include "services/dispatcher/stored_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "storage/sql_text.h"

namespace presetbridge::services {
namespace {

TEST(StoredAnswer, KeepsTextAndReplacesWhatIsNone) {
  EXPECT_EQ(stored_answer("fine \xE2\x82\xAC \xF0\x9F\x98\x80"), "fine \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(stored_answer(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(stored_answer("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(stored_answer("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(StoredAnswer, IsCutBetweenCharacters) {
  std::string body(kStoredAnswerBytes - 1, 'x');
  EXPECT_EQ(stored_answer(body + "\xE2\x82\xAC and more"), body);
  EXPECT_EQ(stored_answer(body + "yz"), body + "y");
}

TEST(StoredAnswer, OfAnyBytesCanBeStored) {
  EXPECT_TRUE(rc::check("the storage takes it, and it is short", [](const std::string& body) {
    const auto stored = stored_answer(body);
    RC_ASSERT(stored.size() <= kStoredAnswerBytes);
    storage::check_text(stored);
  }));
}

}  // namespace
}  // namespace presetbridge::services
