#include "domain/resolution.h"

#include <gtest/gtest.h>

#include <set>

namespace presetbridge::domain {
namespace {

TEST(Resolution, EveryCodeHasItsOwnThreeTexts) {
  std::set<std::string_view> titles;
  for (std::size_t c = 1; c < kResolutionCodeNames.size(); ++c) {
    const ResolutionText& text = describe(static_cast<ResolutionCode>(c));
    EXPECT_FALSE(text.title.empty());
    EXPECT_TRUE(text.what_happened.ends_with('.')) << kResolutionCodeNames[c];
    EXPECT_TRUE(text.what_to_do.ends_with('.')) << kResolutionCodeNames[c];
    EXPECT_TRUE(titles.insert(text.title).second) << text.title;
  }
  EXPECT_TRUE(describe(ResolutionCode::none).title.empty());
}

TEST(Resolution, TheTextsStandBesideTheirCodes) {
  EXPECT_EQ(describe(ResolutionCode::username_missing).title, "Username missing");
  EXPECT_EQ(describe(ResolutionCode::insufficient_credits).title, "Not enough credits");
  EXPECT_EQ(describe(ResolutionCode::internal_error).title, "Internal error");
}

TEST(Resolution, ARemedyResumesOnlyWhatItFixes) {
  EXPECT_TRUE(resumes(ResolutionCode::username_missing, Remedy::username_arrived));
  EXPECT_TRUE(resumes(ResolutionCode::preset_not_found, Remedy::mapping_saved));
  EXPECT_FALSE(resumes(ResolutionCode::preset_not_found, Remedy::username_arrived));
  EXPECT_FALSE(resumes(ResolutionCode::username_missing, Remedy::mapping_saved));
  for (const auto remedy : {Remedy::username_arrived, Remedy::mapping_saved}) {
    EXPECT_FALSE(resumes(ResolutionCode::none, remedy));
    EXPECT_FALSE(resumes(ResolutionCode::internal_error, remedy));
    EXPECT_FALSE(resumes(ResolutionCode::cloud_rejected, remedy));
    EXPECT_FALSE(resumes(ResolutionCode::insufficient_credits, remedy));
  }
}

}  // namespace
}  // namespace presetbridge::domain
