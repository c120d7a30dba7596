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
  EXPECT_TRUE(resumes(ResolutionCode::credentials_missing, Remedy::credentials_saved));
  EXPECT_TRUE(resumes(ResolutionCode::credentials_invalid, Remedy::credentials_saved));
  EXPECT_TRUE(resumes(ResolutionCode::insufficient_credits, Remedy::credits_added));
  EXPECT_TRUE(resumes(ResolutionCode::username_missing, Remedy::username_arrived));
  EXPECT_TRUE(resumes(ResolutionCode::preset_not_found, Remedy::mapping_saved));
  EXPECT_TRUE(resumes(ResolutionCode::cloud_unavailable, Remedy::platform_back));
  EXPECT_TRUE(resumes(ResolutionCode::friendship_timeout, Remedy::friendship_accepted));
  EXPECT_FALSE(resumes(ResolutionCode::insufficient_credits, Remedy::credentials_saved));
  for (const auto remedy : {Remedy::credentials_saved, Remedy::credits_added, Remedy::username_arrived,
                            Remedy::mapping_saved, Remedy::platform_back, Remedy::friendship_accepted}) {
    EXPECT_FALSE(resumes(ResolutionCode::none, remedy));
    EXPECT_FALSE(resumes(ResolutionCode::internal_error, remedy));
    EXPECT_FALSE(resumes(ResolutionCode::cloud_rejected, remedy));
  }
}

}  // namespace
}  // namespace presetbridge::domain
