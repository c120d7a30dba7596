#include "net/client_address.h"

#include <gtest/gtest.h>

namespace presetbridge::net {
namespace {

HttpRequest request_of(std::string peer, const std::vector<std::string>& forwarded_for = {}) {
  HttpRequest request;
  request.remote_address = std::move(peer);
  for (const auto& value : forwarded_for) request.headers.add("X-Forwarded-For", value);
  return request;
}

std::vector<IpNetwork> proxies() {
  return {*IpNetwork::parse("127.0.0.1"), *IpNetwork::parse("10.1.0.0/16"), *IpNetwork::parse("fd00::/8")};
}

std::string client(std::string peer, const std::vector<std::string>& forwarded_for = {}) {
  const auto found = client_address(request_of(std::move(peer), forwarded_for), proxies());
  return found ? found->to_string() : "nothing";
}

TEST(ClientAddress, IsThePeerUnlessThatIsATrustedProxy) {
  EXPECT_EQ(client("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(client("192.0.2.1", {"198.51.100.7"}), "192.0.2.1") << "anybody may write a header";
  EXPECT_EQ(client("127.0.0.1", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("::ffff:127.0.0.1", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("fd00::1", {"2001:db8::7"}), "2001:db8::7");
  EXPECT_EQ(client("10.1.2.3"), "10.1.2.3") << "a proxy that says nothing";
  EXPECT_EQ(client("10.2.0.1", {"198.51.100.7"}), "10.2.0.1");
  EXPECT_EQ(client(""), "nothing");
}

TEST(ClientAddress, WhatTheClientItselfWroteIsNotBelieved) {
  EXPECT_EQ(client("127.0.0.1", {"203.0.113.1, 198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("127.0.0.1", {"203.0.113.1", "198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("127.0.0.1", {"127.0.0.1, 198.51.100.7, 10.1.0.9"}), "198.51.100.7");
  EXPECT_EQ(client("127.0.0.1", {"203.0.113.1,198.51.100.7", "10.1.0.9 ,\t10.1.0.8"}), "198.51.100.7");
}

TEST(ClientAddress, ReadsEntriesAsProxiesWriteThem) {
  EXPECT_EQ(client("127.0.0.1", {"198.51.100.7:1234"}), "198.51.100.7");
  EXPECT_EQ(client("127.0.0.1", {"[2001:db8::7]:1234"}), "2001:db8::7");
  EXPECT_EQ(client("127.0.0.1", {"::ffff:198.51.100.7"}), "198.51.100.7");
  for (const char* nothing : {"", " ", "unknown", "_hidden", "[", "[::1", ",", "198.51.100.7,", "1.2.3.4.5"})
    EXPECT_EQ(client("127.0.0.1", {nothing}), nothing == std::string("[::1") ? "::1" : "127.0.0.1")
        << nothing;
  EXPECT_EQ(client("127.0.0.1", {"10.1.0.9, 10.1.0.8"}), "10.1.0.9") << "proxies all the way";
}

TEST(ClientAddress, OneHostIsOneCallerHoweverManyAddressesItHas) {
  const auto caller = [](std::string peer) { return caller_of(request_of(std::move(peer)), {}).network; };
  EXPECT_EQ(caller("198.51.100.7"), "198.51.100.7");
  EXPECT_EQ(caller("::ffff:198.51.100.7"), "198.51.100.7");
  EXPECT_EQ(caller("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(caller("2001:db8:1:2:ffff::1"), caller("2001:db8:1:2::1"));
  EXPECT_NE(caller("2001:db8:1:3::1"), caller("2001:db8:1:2::1"));
  EXPECT_FALSE(caller_of(request_of("198.51.100.7"), {}).for_others);
}

TEST(ClientAddress, WhoMaySpeakForOthersIsDistinguished) {
  for (const char* many : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", ""})
    EXPECT_TRUE(caller_of(request_of(many), {}).for_others) << many;
  const std::vector<IpNetwork> proxies{*IpNetwork::parse("10.0.0.0/8"), *IpNetwork::parse("127.0.0.1")};
  EXPECT_TRUE(caller_of(request_of("10.1.0.9"), proxies).for_others) << "it does not say for whom";
  EXPECT_EQ(caller_of(request_of("127.0.0.2"), {}).network, "127.0.0.2");
  const auto said = caller_of(request_of("127.0.0.1", {"198.51.100.7"}), proxies);
  EXPECT_EQ(said.network, "198.51.100.7");
  EXPECT_FALSE(said.for_others);
}

TEST(IpNetwork, ReadsAddressesAndPrefixes) {
  for (const char* bad : {"", "/", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8",
                          "10.0.0.0/8 ", "10.0.0.0/08x", "10.0/8", "proxy.example", "10.0.0.1/8"})
    EXPECT_FALSE(IpNetwork::parse(bad)) << bad;
  EXPECT_TRUE(IpNetwork::parse("0.0.0.0/0")->contains(*IpAddress::parse("255.1.2.3")));
  EXPECT_FALSE(IpNetwork::parse("0.0.0.0/0")->contains(*IpAddress::parse("::1")));
  EXPECT_TRUE(IpNetwork::parse("10.128.0.0/9")->contains(*IpAddress::parse("10.255.0.1")));
  EXPECT_FALSE(IpNetwork::parse("10.128.0.0/9")->contains(*IpAddress::parse("10.127.0.1")));
  EXPECT_TRUE(IpNetwork::parse("192.0.2.1")->contains(*IpAddress::parse("192.0.2.1")));
  EXPECT_FALSE(IpNetwork::parse("192.0.2.1")->contains(*IpAddress::parse("192.0.2.2")));
}

}  // namespace
}  // namespace presetbridge::net
