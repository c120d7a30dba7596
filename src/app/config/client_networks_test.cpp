#include "app/config/client_networks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace presetbridge::app {
namespace {

TEST(ClientNetworks, ANetworkHasAnEighthOfTheConnectionsAndEightAtLeast) {
  Config config;
  EXPECT_EQ(server_options(config, {}).connections, 10'000);
  EXPECT_EQ(server_options(config, {}).connections_per_network, 1'250);
  config.http_connections = 20;
  EXPECT_EQ(server_options(config, {}).connections_per_network, 8);
}

TEST(ClientNetworks, LoopbackAndNamedProxiesSpeakForOthers) {
  Config config;
  config.http_trusted_proxies = {"10.0.0.0/8"};
  const auto options = server_options(config, {});
  const auto speaks = [&](const char* peer) {
    return std::ranges::any_of(options.shared_networks, [&](const net::IpNetwork& one) {
      return one.contains(*net::IpAddress::parse(peer));
    });
  };
  for (const char* peer : {"127.0.0.1", "127.0.0.2", "::1", "10.1.2.3"}) EXPECT_TRUE(speaks(peer)) << peer;
  for (const char* peer : {"198.51.100.7", "::2", "11.0.0.1"}) EXPECT_FALSE(speaks(peer)) << peer;
}

TEST(ClientNetworks, BudgetsAreThoseOfTheSettings) {
  Config config;
  EXPECT_EQ(failed_request_limits(config).failures, 300);
  EXPECT_EQ(failed_request_limits(config).window, Millis{60'000});
  EXPECT_EQ(failed_sign_in_limits(config).failures, 100);
  EXPECT_EQ(failed_sign_in_limits(config).window, Millis{3'600'000});
  config.http_failures_per_address = 7;
  config.identity_failures_per_address = 9;
  EXPECT_EQ(failed_request_limits(config).failures, 7);
  EXPECT_EQ(failed_sign_in_limits(config).failures, 9);
}

TEST(ClientNetworks, ReadersHaveHalfOfTheConnectionsAndNobodyMoreThanAnEighthOfThem) {
  Config config;
  const auto usual = reader_shares(config);
  EXPECT_EQ(usual.of_accounts + usual.of_buyers, 2'500);
  EXPECT_EQ(usual.of_buyers, 625);
  EXPECT_EQ(usual.of_account, 60);
  EXPECT_EQ(usual.of_network, 312);
  config.http_connections = 400;
  const auto few = reader_shares(config);
  EXPECT_EQ(few.of_accounts + few.of_buyers, 200);
  EXPECT_EQ(few.of_account, 25);
  EXPECT_EQ(few.of_network, 25);
}

}  // namespace
}  // namespace presetbridge::app
