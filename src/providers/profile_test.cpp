#include "providers/profile.h"

#include <gtest/gtest.h>

#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using domain::Provider;

TEST(Profiles, AreFoundByTheirNeutralAndTheirRealPathName) {
  EXPECT_EQ(find_profile("provider_a"), &profile_of(Provider::provider_a));
  EXPECT_EQ(find_profile("shopify"), &profile_of(Provider::provider_a));
  EXPECT_EQ(find_profile("provider_b"), &profile_of(Provider::provider_b));
  EXPECT_EQ(find_profile("woocommerce"), &profile_of(Provider::provider_b));
  EXPECT_EQ(find_profile("generic"), &profile_of(Provider::generic));
}

TEST(Profiles, KnowNoOtherName) {
  for (const auto name : {"", "Provider_a", "provider_c", "shopify ", "generic/", "magento"}) {
    EXPECT_EQ(find_profile(name), nullptr) << name;
  }
}

TEST(Profiles, NameTheirProvider) {
  for (const auto provider : {Provider::provider_a, Provider::provider_b, Provider::generic}) {
    EXPECT_EQ(profile_of(provider).provider, provider);
  }
}

TEST(FirstHeader, IsTheFirstThatIsNotEmptyInTheOrderOfTheNames) {
  const auto& names = profile_of(Provider::provider_a).topic_headers;
  EXPECT_EQ(first_header(names, testing::headers_of({{"x-shopify-topic", "orders/paid"}})), "orders/paid");
  EXPECT_EQ(first_header(names, testing::headers_of({{"X-Shopify-Topic", "b"}, {"X-Hosted-Topic", "a"}})),
            "a");
  EXPECT_EQ(first_header(names, testing::headers_of({{"X-Hosted-Topic", ""}, {"X-Shopify-Topic", "b"}})),
            "b");
  EXPECT_EQ(first_header(names, testing::headers_of({})), "");
}

}  // namespace
}  // namespace presetbridge::providers
