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

TEST(StoreOrigin, IsAnAddressAndNothingElse) {
  const auto origin = [](domain::Provider provider, std::string_view name, std::string_view value) {
    return store_origin(profile_of(provider), [&](std::string_view asked) {
      return asked == name ? std::vector<std::string_view>{value} : std::vector<std::string_view>{};
    });
  };
  using enum domain::Provider;
  EXPECT_EQ(origin(provider_a, "X-Shopify-Shop-Domain", "marlow.myshopify.com"),
            "https://marlow.myshopify.com/");
  EXPECT_EQ(origin(provider_b, "X-WC-Webhook-Source", "https://marlow.example/shop"),
            "https://marlow.example/shop/");
  EXPECT_EQ(origin(provider_b, "X-Plugin-Webhook-Source", "http://marlow.example/"),
            "http://marlow.example/");
  for (const auto* const wrong :
       {"", "localhost", "a.example/x", "a.example?x", "javascript:x", "a b.example", "\"><script>.x"})
    EXPECT_EQ(origin(provider_a, "X-Hosted-Shop-Domain", wrong), "") << wrong;
  for (const auto* const wrong : {"", "https://", "javascript:alert(1)", "https://x.example/?a",
                                  "https://x@y.example/", "ftp://x.example/"})
    EXPECT_EQ(origin(provider_b, "X-WC-Webhook-Source", wrong), "") << wrong;
  EXPECT_EQ(origin(generic, "X-WC-Webhook-Source", "https://x.example/"), "");
}

TEST(OrderUrl, IsTheMerchantsPageOfTheOrder) {
  using enum domain::Provider;
  EXPECT_EQ(order_url(provider_a, "https://a.example/", "450789469"),
            "https://a.example/admin/orders/450789469");
  EXPECT_EQ(order_url(provider_b, "https://b.example/", "17"),
            "https://b.example/wp-admin/post.php?post=17&action=edit");
  EXPECT_EQ(order_url(provider_a, "", "17"), "");
  EXPECT_EQ(order_url(provider_a, "https://a.example/", "../x"), "");
  EXPECT_EQ(order_url(generic, "https://a.example/", "17"), "");
}

}  // namespace
}  // namespace presetbridge::providers
