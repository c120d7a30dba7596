#include "domain/search_words.h"

#include <gtest/gtest.h>

#include <string>

namespace presetbridge::domain {
namespace {

bool finds(std::string_view typed, std::string_view name) {
  return SearchWords(typed).are_in(name);
}

TEST(SearchWords, AreFoundInAnyOrderCaseAndSpelling) {
  for (const auto* typed :
       {"plexi 68", "plexi '68", "PLEXI ’68", "68 plexi", "crunch plex", "plexi-68", "plexi68", " plexi  "})
    EXPECT_TRUE(finds(typed, "Plexi ’68 – Crunch")) << typed;
  EXPECT_TRUE(finds("grun", "Grün & Wärme"));
  EXPECT_TRUE(finds("GRÜN", "grün"));
  EXPECT_TRUE(finds("strasse", "Straße"));
  EXPECT_TRUE(finds("rock'n'roll", "Rock’n’Roll"));
  EXPECT_TRUE(finds("ギター", "エレキギター"));
  for (const auto* typed : {"plexi 69", "plexi 68 lead"})
    EXPECT_FALSE(finds(typed, "Plexi ’68 – Crunch")) << typed;
}

TEST(SearchWords, WithoutAWordFindAll) {
  for (const auto* typed : {"", "  ", "’", "&-!"}) {
    EXPECT_TRUE(SearchWords(typed).empty()) << typed;
    EXPECT_TRUE(finds(typed, "Plexi"));
  }
}

TEST(SearchWords, TakeAnyBytes) {
  EXPECT_TRUE(finds("plexi", "Plexi \xff\xfe"));
  EXPECT_TRUE(finds("plexi \xff", "Plexi"));
  EXPECT_TRUE(finds("a", std::string("\0A", 2)));
}

}  // namespace
}  // namespace presetbridge::domain
