// The routes of links in mails.
#include "api/api_testing.h"
#include "identity/mail_links.h"

namespace presetbridge::api {
namespace {

using storage::MailPurpose;

constexpr const char* kNext = "another long pass phrase";

class MailRoutes : public testing::ApiTest {
 protected:
  // The token of the newest link of this purpose.
  std::string token(MailPurpose purpose) {
    static constexpr storage::Sql kNewest{"SELECT max(id) FROM mail_links WHERE purpose = $1"};
    MailLinkId id;
    world_.db->read([&](storage::Tx& tx) {
      id = tx.one(kNewest, to_string(purpose), [](const storage::Row& r) {
               return r.id<MailLinkId>(0);
             }).value();
    });
    return mail_tokens_.token_of(id, purpose);
  }
  Answer ask(std::string_view email) { return post("/api/auth/password-reset", {{"email", email}}); }
  Answer confirm(std::string_view link, std::string_view password = kNext) {
    return post("/api/auth/password-reset/confirm", {{"token", link}, {"password", password}});
  }
  Answer verify(std::string_view link) { return post("/api/auth/verify", {{"token", link}}); }
};

TEST_F(MailRoutes, ALinkSetsThePasswordAndShowsTheKeysInForce) {
  const auto ann = sign_up("ann@example.com");
  const auto made = create_key(ann);
  EXPECT_EQ(ask("ann@example.com").status, 202);
  const auto link = token(MailPurpose::reset);
  EXPECT_EQ(confirm(link, "short").status, 422);
  EXPECT_EQ(confirm("x").code(), "LINK_INVALID");
  const auto set = confirm(link);
  ASSERT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.header("Cache-Control"), "no-store");
  EXPECT_EQ(set.body.at("keys").at(0).at("id").as_string(), made.string("id"));
  EXPECT_EQ(send("GET", "/api/account", bearer(ann)).code(), "UNAUTHORIZED");
  const auto account = send("GET", "/api/account", bearer(set));
  EXPECT_TRUE(account.body.at("caller").at("emailVerified").as_bool());
  const auto again = confirm(link);
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.code(), "LINK_INVALID");
}

TEST_F(MailRoutes, ABrowsersNewSessionIsACookieOfItsOwnOrigin) {
  sign_up("ann@example.com");
  ask("ann@example.com");
  const json::object body{{"token", token(MailPurpose::reset)}, {"password", kNext}, {"session", "cookie"}};
  EXPECT_EQ(post("/api/auth/password-reset/confirm", body).code(), "CROSS_SITE_REQUEST");
  const auto set = post("/api/auth/password-reset/confirm", body, {{"Origin", "https://bridge.example"}});
  ASSERT_EQ(set.status, 200) << "a refusal uses nothing up";
  EXPECT_FALSE(set.text.contains("pdb_refresh_"));
  EXPECT_TRUE(set.header("Set-Cookie").starts_with("__Host-pdb_session=pdb_refresh_"));
}

TEST_F(MailRoutes, EveryAddressGetsOneAnswer) {
  sign_up("ann@example.com");
  const auto known = ask("ann@example.com");
  const auto unknown = ask("nobody@example.com");
  EXPECT_EQ(known.status, unknown.status);
  EXPECT_EQ(known.text, unknown.text);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask("ann@example.com").text, known.text);
    EXPECT_EQ(ask("nobody@example.com").text, known.text);
  }
  EXPECT_EQ(ask("nobody").status, 422);
}

TEST_F(MailRoutes, AnAddressIsConfirmedByItsLinkAndAskedForAgain) {
  const auto ann = sign_up("ann@example.com");
  const auto verified = [&] {
    return send("GET", "/api/account", bearer(ann)).body.at("caller").at("emailVerified").as_bool();
  };
  EXPECT_FALSE(verified());
  const auto first = token(MailPurpose::verify);
  EXPECT_EQ(post("/api/auth/verification", json::object{}).status, 401);
  EXPECT_EQ(send("POST", "/api/auth/verification", bearer(ann)).status, 202);
  EXPECT_EQ(verify(first).code(), "LINK_INVALID");
  EXPECT_EQ(verify(token(MailPurpose::verify)).status, 204);
  EXPECT_TRUE(verified());
  EXPECT_EQ(send("POST", "/api/auth/verification", bearer(ann)).code(), "CONFLICT");
}

TEST_F(MailRoutes, AStrangersInvalidLinksCountAsInvalidTokens) {
  peer_ = "192.0.2.9";
  Answer last;
  for (int i = 0; i < 1'000 && last.status != 429; ++i) last = verify("x");
  EXPECT_EQ(last.code(), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(confirm("x").code(), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(ask("ann@example.com").code(), "RATE_LIMIT_EXCEEDED");
}

}  // namespace
}  // namespace presetbridge::api
