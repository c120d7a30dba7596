#include "api/session_cookie.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace presetbridge::api {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string judge(const std::string& base_url, const Fields& fields) {
  net::HttpRequest request;
  for (const auto& [name, value] : fields) request.headers.add(name, value);
  const auto door = SessionCookie(base_url).judge(request);
  if (!door) return door.error().code;
  return *door == Door::https ? "https" : "loopback";
}

TEST(SessionCookie, OnlyPagesOfTheServicesOwnOriginAreLetIn) {
  const std::string base = "https://bridge.example";
  EXPECT_EQ(judge(base, {{"Origin", base}}), "https");
  EXPECT_EQ(judge(base, {{"Origin", base}, {"Sec-Fetch-Site", "same-origin"}}), "https");
  for (const char* origin : {"https://evil.example", "https://bridge.example.evil.example", "null", "",
                             "https://bridge.example:8443", "https://www.bridge.example",
                             "https://bridge.example/", "HTTPS://bridge.example"}) {
    EXPECT_EQ(judge(base, {{"Origin", origin}}), "CROSS_SITE_REQUEST") << origin;
  }
  EXPECT_EQ(judge(base, {}), "CROSS_SITE_REQUEST");
  EXPECT_EQ(judge(base, {{"Origin", base}, {"Origin", base}}), "CROSS_SITE_REQUEST");
  for (const char* site : {"cross-site", "same-site", "none", ""}) {
    EXPECT_EQ(judge(base, {{"Origin", base}, {"Sec-Fetch-Site", site}}), "CROSS_SITE_REQUEST") << site;
  }
  EXPECT_EQ(judge(base, {{"Origin", base}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "x"}}),
            "CROSS_SITE_REQUEST");
}

TEST(SessionCookie, TheOriginIsTheAddressWithoutPathAndUsualPort) {
  EXPECT_EQ(judge("https://Bridge.Example:443/presets", {{"Origin", "https://bridge.example"}}), "https");
  EXPECT_EQ(judge("https://bridge.example:8443", {{"Origin", "https://bridge.example:8443"}}), "https");
  EXPECT_EQ(judge("http://127.0.0.1:80", {{"Origin", "http://127.0.0.1"}}), "loopback");
  EXPECT_EQ(judge("http://[::1]:8080", {{"Origin", "http://[::1]:8080"}}), "loopback");
}

TEST(SessionCookie, ThisMachineIsItselfByAnyOfItsNames) {
  const std::string base = "http://127.0.0.1:8080";
  EXPECT_EQ(judge(base, {{"Origin", "http://localhost:8080"}, {"Host", "localhost:8080"}}), "loopback");
  EXPECT_EQ(judge(base, {{"Origin", "http://[::1]:8080"}, {"Host", "[::1]:8080"}}), "loopback");
  EXPECT_EQ(judge(base, {{"Origin", "http://localhost:3000"}, {"Host", "localhost:8080"}}),
            "CROSS_SITE_REQUEST")
      << "another program on this machine";
  EXPECT_EQ(judge(base, {{"Origin", "http://rebound.example"}, {"Host", "rebound.example"}}),
            "INSECURE_ADDRESS");
  EXPECT_EQ(
      judge("https://bridge.example", {{"Origin", "http://localhost:8080"}, {"Host", "localhost:8080"}}),
      "INSECURE_ADDRESS")
      << "the service has an https address";
}

TEST(SessionCookie, PlainHttpElsewhereIsReported) {
  const std::string base = "http://192.168.1.5:8080";
  EXPECT_EQ(judge(base, {{"Origin", base}, {"Host", "192.168.1.5:8080"}}), "INSECURE_ADDRESS");
  EXPECT_EQ(judge(base, {{"Origin", "http://localhost:8080"}, {"Host", "localhost:8080"}}), "loopback");
  EXPECT_FALSE(SessionCookie(base).door());
  EXPECT_FALSE(SessionCookie("http://localhost.evil.example").door());
  EXPECT_TRUE(SessionCookie("http://localhost:1").door());
}

TEST(SessionCookie, ItsAttributesKeepScriptsAndOtherHostsOut) {
  EXPECT_EQ(SessionCookie::set(Door::https, "token", std::chrono::hours{1}),
            "__Host-pdb_session=token; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure");
  EXPECT_EQ(SessionCookie::set(Door::loopback, "token", std::chrono::hours{1}),
            "pdb_session=token; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict");
  EXPECT_EQ(SessionCookie::clear(Door::https),
            "__Host-pdb_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure");
}

TEST(SessionCookie, ItIsReadWhereThereIsOne) {
  const auto read = [](const std::vector<std::string>& fields, Door door) {
    net::HttpRequest request;
    for (const auto& field : fields) request.headers.add("Cookie", field);
    return SessionCookie::token(request, door);
  };
  EXPECT_EQ(read({"a=b; __Host-pdb_session=x; c=d"}, Door::https), "x");
  EXPECT_EQ(read({"a=b", "pdb_session=y"}, Door::loopback), "y");
  EXPECT_EQ(read({"pdb_session=y"}, Door::https), std::nullopt) << "anybody's host may plant that";
  EXPECT_EQ(read({"__Host-pdb_session=x; __Host-pdb_session=y"}, Door::https), std::nullopt);
  EXPECT_EQ(read({"x__Host-pdb_session=x", ";;; =", ""}, Door::https), std::nullopt);
  EXPECT_EQ(read({}, Door::loopback), std::nullopt);
}

}  // namespace
}  // namespace presetbridge::api
