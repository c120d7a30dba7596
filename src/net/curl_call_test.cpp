#include "net/curl_call.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "net/loopback_testing.h"

namespace presetbridge::net {
namespace {

// The client checks addresses before libcurl sees them; this is the second check, should that ever be passed
// by.
TEST(CurlCall, TheSocketToADeniedAddressIsNotOpenedWhateverWasResolved) {
  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler executor(clock);
  const net::testing::TestListener listener;
  const std::string port = std::to_string(listener.port());
  for (const auto& address : {"127.0.0.1", "::1", "::ffff:127.0.0.1"}) {
    CurlCall call(executor, {.url = "https://guarded.test:" + port + "/"});
    ASSERT_FALSE(call.check().has_value());
    call.prepare(CurlEasy(curl_easy_init()), {*IpAddress::parse(address)}, Millis{5'000}, {});
    call.conclude(curl_easy_perform(call.easy.get()));
    ASSERT_NE(call.result.failure(), nullptr);
    EXPECT_EQ(call.result.failure()->kind, HttpFailure::Kind::denied) << call.result.failure()->message;
    EXPECT_FALSE(listener.anyone_waits()) << address;
  }
}

TEST(CurlCall, TheSocketToAnAllowedAddressIsOpened) {
  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler executor(clock);
  const net::testing::TestListener listener;
  CurlCall call(executor, {.url = "http://allowed.test:" + std::to_string(listener.port()) + "/",
                           .policy = AddressPolicy::sandbox_receivers});
  ASSERT_FALSE(call.check().has_value());
  call.prepare(CurlEasy(curl_easy_init()), {IpAddress::v4({127, 0, 0, 1})}, Millis{5'000}, {});
  std::thread server([&] { listener.accept().read_some(); });
  call.conclude(curl_easy_perform(call.easy.get()));
  server.join();
  EXPECT_EQ(call.result.failure()->kind, HttpFailure::Kind::lost) << call.result.failure()->message;
}

}  // namespace
}  // namespace presetbridge::net
