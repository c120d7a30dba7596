#include "cloud/contract.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cloud/cloud_login.h"

namespace presetbridge::cloud {
namespace {

TEST(Contract, ReadsAUserAndIgnoresWhatItDoesNotKnow) {
  const auto user = read_user(R"({"id":"u-1","username":"Ann","more":[1]})");
  ASSERT_TRUE(user);
  EXPECT_EQ(user->id, "u-1");
  EXPECT_EQ(user->username, "Ann");
}

TEST(Contract, RefusesUsersThatAreNotOfTheContract) {
  const std::string long_id(201, 'x');
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string(R"({"id":"u-1"})"),
        std::string(R"({"id":1,"username":"a"})"), std::string(R"({"id":"","username":"a"})"),
        R"({"id":")" + long_id + R"(","username":"a"})", std::string(R"({"id":"a\u0000b","username":"a"})"),
        std::string(R"({"id":"a\nb","username":"a"})"), std::string("{\"id\":\"\xff\",\"username\":\"a\"}"),
        std::string(R"({"id":"u-1","username":"a"} x)"), std::string(R"({"id":"u-1","username":"a")")}) {
    EXPECT_FALSE(read_user(body)) << body;
  }
}

TEST(Contract, CountsCharactersAndNotBytes) {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "ä";
  EXPECT_TRUE(read_user(R"({"id":"u","username":")" + name + R"("})"));
  EXPECT_FALSE(read_user(R"({"id":"u","username":")" + name + R"(ä"})"));
}

TEST(Contract, ReadsAFriendshipPage) {
  const auto page = read_friendship_page(
      R"({"changes":[{"userId":"a","state":"friends","changedAt":"2026-01-02T03:04:05.678Z"}],"nextCursor":"c1","more":true})");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->changes.size(), 1U);
  EXPECT_EQ(page->changes[0].state, FriendshipState::friends);
  EXPECT_EQ(to_iso8601(page->changes[0].changed_at), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(page->next_cursor, "c1");
  EXPECT_TRUE(page->more);
}

TEST(Contract, RefusesAPageWithOneBadElement) {
  EXPECT_FALSE(read_friendship_page(
      R"({"changes":[{"userId":"a","state":"enemies","changedAt":"2026-01-02T03:04:05Z"}],"nextCursor":"c1","more":false})"));
  EXPECT_FALSE(read_friendship_page(R"({"changes":[7],"nextCursor":"c1","more":false})"));
  EXPECT_FALSE(read_friendship_page(R"({"changes":[],"nextCursor":"c1"})"));
  EXPECT_FALSE(read_file_page(R"({"files":{},"nextCursor":"","more":false})"));
}

TEST(Contract, ReadsAShareWithAndWithoutTheKeyOfItsCall) {
  const auto with = read_share(R"({"id":"s","idempotencyKey":"k1","sharedAt":"2026-01-02T03:04:05Z"})");
  ASSERT_TRUE(with);
  EXPECT_EQ(with->idempotency_key, "k1");
  const auto without = read_share(R"({"id":"s","idempotencyKey":null,"sharedAt":"2026-01-02T03:04:05Z"})");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->idempotency_key, "");
  EXPECT_FALSE(read_share(R"({"id":"s","sharedAt":"yesterday"})"));
}

TEST(Contract, TakesOnlyTokensThatFitAHeader) {
  const auto body = [](const std::string& token) {
    return R"({"token":")" + token +
           R"(","expiresAt":"2026-01-02T03:04:05Z","user":{"id":"m","username":"n"}})";
  };
  EXPECT_TRUE(read_session(body(std::string(4096, 't'))));
  EXPECT_FALSE(read_session(body(std::string(4097, 't'))));
  EXPECT_FALSE(read_session(body("a b")));
  EXPECT_FALSE(read_session(body("ä")));
  EXPECT_FALSE(read_session(body("a\\r\\nX: y")));
}

TEST(Contract, MapsEachErrorCodeToItsKind) {
  using Kind = CloudError::Kind;
  EXPECT_EQ(kind_of("not_shareable"), Kind::not_shareable);
  EXPECT_EQ(kind_of("blocked"), Kind::blocked);
  EXPECT_EQ(kind_of("not_friends"), Kind::not_friends);
  EXPECT_EQ(kind_of("file_not_found"), Kind::file_not_found);
  EXPECT_EQ(kind_of("something new"), Kind::rejected);
}

TEST(Contract, ReadsRetryAfterAsSecondsOrDateWithinAnHour) {
  const auto now = *parse_iso8601("2026-11-21T10:00:00Z");
  EXPECT_EQ(read_retry_after("0", now), Millis{0});
  EXPECT_EQ(read_retry_after("90", now), Millis{90'000});
  EXPECT_EQ(read_retry_after("86400", now), Millis{86'400'000});
  EXPECT_EQ(read_retry_after("86401", now), Millis{86'400'000});
  EXPECT_EQ(read_retry_after("99999999999999999999999", now), Millis{86'400'000});
  EXPECT_EQ(read_retry_after("Sat, 21 Nov 2026 10:00:30 GMT", now), Millis{30'000});
  EXPECT_EQ(read_retry_after("Sat, 21 Nov 2026 09:00:30 GMT", now), Millis{0});
  EXPECT_EQ(read_retry_after("Sun, 21 Nov 2027 09:00:30 GMT", now), Millis{86'400'000});
  for (const char* text : {"", "-1", "soon", "1.5", "Sat, 31 Feb 2026 10:00:30 GMT"}) {
    EXPECT_FALSE(read_retry_after(text, now)) << text;
  }
}

TEST(Contract, EncodesAPathSegmentWhateverIsInIt) {
  EXPECT_EQ(path_segment("a-b_c.d~e"), "a-b_c.d~e");
  EXPECT_EQ(path_segment("a/b?c#d %"), "a%2Fb%3Fc%23d%20%25");
  EXPECT_EQ(path_segment("é"), "%C3%A9");
  EXPECT_FALSE(path_segment(""));
  EXPECT_FALSE(path_segment("."));
  EXPECT_FALSE(path_segment(".."));
  EXPECT_FALSE(path_segment(std::string(201, 'a')));
  EXPECT_FALSE(path_segment("a\tb"));
  EXPECT_FALSE(path_segment("a\x7f"));
}

TEST(Contract, NoBodyBreaksAReader) {
  EXPECT_TRUE(rc::check([](const std::string& body) {
    read_session(body);
    read_user(body);
    read_friendship(body);
    read_friendship_page(body);
    read_file_page(body);
    read_share(body);
    read_error(body);
    read_retry_after(body, Timestamp{});
    const auto segment = path_segment(body);
    // No || inside RC_ASSERT: it takes the expression apart, and with it the short circuit.
    if (segment) RC_ASSERT(segment->find_first_of("/?# \r\n") == std::string::npos);
  }));
}

TEST(CloudLogin, ComesOutAsItWentIn) {
  EXPECT_TRUE(rc::check([](std::string email, std::string password) {
    email.resize(std::min<std::size_t>(email.size() + 1, kMaxEmail), 'e');
    password.resize(std::min<std::size_t>(password.size() + 1, kMaxPassword), 'p');
    const auto text = encode_cloud_login(email, password);
    RC_ASSERT(text.has_value());
    const auto login = decode_cloud_login(text->reveal());
    RC_ASSERT(login.has_value());
    RC_ASSERT(login->email == email);
    RC_ASSERT(login->password.reveal() == password);
    RC_ASSERT(!decode_cloud_login(text->reveal().substr(1)));
    RC_ASSERT(!decode_cloud_login(text->reveal().substr(0, text->size() - 1)));
    RC_ASSERT(!decode_cloud_login(std::string(text->reveal()) + "x"));
  }));
  EXPECT_FALSE(encode_cloud_login("", "x"));
  EXPECT_FALSE(encode_cloud_login("x", ""));
  EXPECT_FALSE(encode_cloud_login("x", std::string(1025, 'x')));
  EXPECT_FALSE(decode_cloud_login(""));
}

}  // namespace
}  // namespace presetbridge::cloud
