#include "net/ip_address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace presetbridge::net {
namespace {

bool is_public(const std::string& text) {
  const auto address = IpAddress::parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address && address->is_public();
}

TEST(IpAddress, HostsOfTheInternetArePublic) {
  for (const char* text : {"1.1.1.1",         "8.8.8.8",         "9.255.255.255",        "11.0.0.0",
                           "100.63.255.255",  "100.128.0.0",     "126.255.255.255",      "128.0.0.0",
                           "169.253.255.255", "169.255.0.0",     "172.15.255.255",       "172.32.0.0",
                           "192.0.1.0",       "192.167.255.255", "192.169.0.0",          "198.17.255.255",
                           "198.20.0.0",      "198.51.99.255",   "203.0.112.255",        "223.255.255.255",
                           "2000::1",         "2001:200::1",     "2606:4700:4700::1111", "2a00:1450::1",
                           "2003::1",         "2620:4f:8001::1"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(IpAddress, SpecialRangesOfVersionFourAreNotPublicFromTheirFirstToTheirLastAddress) {
  for (const char* text :
       {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",       "10.255.255.255",  "100.64.0.0",
        "100.127.255.255", "127.0.0.0",       "127.0.0.1",      "127.255.255.255", "169.254.0.0",
        "169.254.169.254", "169.254.255.255", "172.16.0.0",     "172.31.255.255",  "192.0.0.0",
        "192.0.0.255",     "192.0.2.0",       "192.0.2.255",    "192.88.99.1",     "192.168.0.0",
        "192.168.255.255", "198.18.0.0",      "198.19.255.255", "198.51.100.1",    "203.0.113.255",
        "224.0.0.1",       "239.255.255.255", "240.0.0.0",      "255.255.255.255"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

TEST(IpAddress, SpecialRangesOfVersionSixAreNotPublic) {
  for (const char* text : {"::",
                           "::1",
                           "::2",
                           "::127.0.0.1",
                           "::ffff:127.0.0.1",
                           "::ffff:8.8.8.8",
                           "::ffff:169.254.169.254",
                           "64:ff9b::8.8.8.8",
                           "64:ff9b:1::1",
                           "100::1",
                           "2001::1",
                           "2001:2::1",
                           "2001:10::1",
                           "2001:20::1",
                           "2001:1ff:ffff::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "2002:808:808::1",
                           "3fff::1",
                           "5f00::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fdff:ffff::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "ff02::1",
                           "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

TEST(IpAddress, OnlyTheTwoLoopbackRangesAreLoopback) {
  EXPECT_TRUE(IpAddress::parse("127.0.0.1")->is_loopback());
  EXPECT_TRUE(IpAddress::parse("127.9.8.7")->is_loopback());
  EXPECT_TRUE(IpAddress::parse("::1")->is_loopback());
  for (const char* text : {"128.0.0.1", "10.0.0.1", "0.0.0.0", "::", "::2", "::ffff:127.0.0.1", "1::1"}) {
    EXPECT_FALSE(IpAddress::parse(text)->is_loopback()) << text;
  }
}

TEST(IpAddress, ParsesOnlyThePlainForms) {
  for (const char* text :
       {"", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "1.2.3.4.5", "1.2.3", "1.2.3.256",
        "fe80::1%eth0", "[::1]", " 1.2.3.4", "1.2.3.4 ", ":::", "1.2.3.4\n"}) {
    EXPECT_FALSE(IpAddress::parse(text).has_value()) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0x", 9)).has_value());
}

TEST(IpAddress, IsWrittenAsItWasRead) {
  for (const char* text : {"1.2.3.4", "255.255.255.255", "::1", "2001:db8::1"}) {
    EXPECT_EQ(IpAddress::parse(text)->to_string(), text);
  }
}

TEST(IpAddress, IsTakenFromASocketAddressOfEitherFamilyAndNoOther) {
  sockaddr_storage storage{};
  storage.ss_family = AF_UNIX;
  EXPECT_FALSE(IpAddress::from_sockaddr(reinterpret_cast<sockaddr&>(storage)).has_value());
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0x7f000001);
  EXPECT_EQ(IpAddress::from_sockaddr(reinterpret_cast<sockaddr&>(v4)), IpAddress::v4({127, 0, 0, 1}));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr.s6_addr[15] = 1;
  EXPECT_EQ(IpAddress::from_sockaddr(reinterpret_cast<sockaddr&>(v6)), IpAddress::parse("::1"));
}

}  // namespace
}  // namespace presetbridge::net
