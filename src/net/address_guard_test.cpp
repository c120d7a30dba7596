#include "net/address_guard.h"

#include <gtest/gtest.h>

namespace presetbridge::net {
namespace {

using Kind = HttpFailure::Kind;
constexpr auto kPublicHttps = AddressPolicy::public_https;
constexpr auto kSandbox = AddressPolicy::sandbox_receivers;
constexpr auto kConfigured = AddressPolicy::configured;

std::optional<Kind> refusal(std::string_view url, AddressPolicy policy) {
  const auto checked = check_url(url, policy);
  if (checked) return std::nullopt;
  return checked.error().kind;
}

TEST(AddressGuard, ReadsHostAndPortAsLibcurlDoes) {
  const auto url = check_url("https://Example.COM/hook?a=b", kPublicHttps);
  ASSERT_TRUE(url.has_value());
  EXPECT_TRUE(url->https);
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 443);
  EXPECT_FALSE(url->literal.has_value());
  EXPECT_EQ(check_url("https://example.com:8443", kPublicHttps)->port, 8443);
  EXPECT_EQ(check_url("http://example.com", kConfigured)->port, 80);
  EXPECT_EQ(check_url("https://[2606:4700::1]:9/", kPublicHttps)->host, "2606:4700::1");
}

TEST(AddressGuard, FindsAnAddressInEverySpelling) {
  for (const char* host :
       {"127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.1",
        "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "0xa9fea9fe",
        "2852039166", "0", "[fd00:ec2::254]", "[64:ff9b::7f00:1]"}) {
    EXPECT_EQ(refusal("https://" + std::string(host) + "/", kPublicHttps), Kind::denied) << host;
  }
}

TEST(AddressGuard, RefusesWhatIsNoPlainHttpUrl) {
  for (const char* url : {"",
                          "example.com",
                          "/path",
                          "ftp://example.com/",
                          "file:///etc/passwd",
                          "gopher://example.com/",
                          "https://",
                          "https://user@example.com/",
                          "https://user:pass@example.com/",
                          "https://example.com:0/",
                          "https://example.com:65536/",
                          "https://exa mple.com/",
                          "https://example.com/\r\nX: y",
                          "https://ex\xc3\xa4mple.com/",
                          "https://ex%C3%A4mple.com/",
                          "https://ex%FFmple.com/",
                          "http:/%31",
                          "https:/example.com/",
                          "https://%31/",
                          "https://ex%2541mple.com/",
                          "https://[fe80::1%25eth0]/",
                          "javascript:alert(1)"}) {
    EXPECT_EQ(refusal(url, kConfigured), Kind::invalid) << url;
  }
  EXPECT_EQ(refusal(std::string_view("https://example.com/\0", 21), kConfigured), Kind::invalid);
  EXPECT_EQ(refusal("https://example.com/" + std::string(2'048, 'a'), kConfigured), Kind::invalid);
  EXPECT_EQ(refusal("https://" + std::string(254, 'a') + "/", kConfigured), Kind::invalid);
}

TEST(AddressGuard, ReportsThatThePortIsNone) {
  for (const char* port : {"0", "65536", "99999", "https", "-1"}) {
    const auto checked = check_url("https://example.com:" + std::string(port) + "/", kPublicHttps);
    ASSERT_FALSE(checked) << port;
    EXPECT_NE(checked.error().message.find("port is not a number from 1 to 65535"), std::string::npos)
        << checked.error().message;
  }
}

TEST(AddressGuard, PublicPolicyWantsHttpsAndAPublicAddress) {
  EXPECT_EQ(refusal("http://example.com/", kPublicHttps), Kind::invalid);
  EXPECT_EQ(refusal("https://8.8.8.8/", kPublicHttps), std::nullopt);
  EXPECT_EQ(refusal("https://shop.example./", kPublicHttps), std::nullopt);
  for (const char* host : {"localhost", "localhost.", "db", "999.1.1.1", "256.256.256.256", "shop.1",
                           ".example", "a..example", "foo.local", "Foo.Internal", "x.localhost", "a..", "."})
    EXPECT_EQ(refusal("https://" + std::string(host) + "/", kPublicHttps), Kind::denied) << host;
  EXPECT_TRUE(address_allowed(kPublicHttps, true, *IpAddress::parse("8.8.8.8")));
  EXPECT_FALSE(address_allowed(kPublicHttps, false, *IpAddress::parse("8.8.8.8")));
  EXPECT_FALSE(address_allowed(kPublicHttps, true, *IpAddress::parse("127.0.0.1")));
}

TEST(AddressGuard, SandboxPolicyAddsLoopbackAndNothingElse) {
  EXPECT_EQ(refusal("http://127.0.0.1:9000/", kSandbox), std::nullopt);
  EXPECT_EQ(refusal("http://localhost:9000/", kSandbox), std::nullopt);
  EXPECT_EQ(refusal("https://[::1]/", kSandbox), std::nullopt);
  EXPECT_EQ(refusal("http://8.8.8.8/", kSandbox), Kind::denied);
  EXPECT_EQ(refusal("https://10.0.0.1/", kSandbox), Kind::denied);
  EXPECT_FALSE(address_allowed(kSandbox, false, *IpAddress::parse("8.8.8.8")));
  EXPECT_FALSE(address_allowed(kSandbox, false, *IpAddress::parse("::ffff:127.0.0.1")));
  EXPECT_TRUE(address_allowed(kSandbox, true, *IpAddress::parse("8.8.8.8")));
}

TEST(AddressGuard, ConfiguredHostsMayHaveAnyAddress) {
  EXPECT_EQ(refusal("http://10.1.2.3:8080/base", kConfigured), std::nullopt);
  EXPECT_EQ(refusal("http://cloud:8080/", kConfigured), std::nullopt);
  EXPECT_TRUE(address_allowed(kConfigured, false, *IpAddress::parse("10.1.2.3")));
}

}  // namespace
}  // namespace presetbridge::net
