#include "identity/external_sign_in.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/jws.h"
#include "identity/testing.h"

namespace presetbridge::identity {
namespace {

namespace json = boost::json;

constexpr const char* kIss = "https://id.example";
const Device kBrowser{.browser = true, .network = "192.0.2.7", .user_agent = "Firefox on Linux"};

// A provider that signs what a test sets.
class Provider final : public net::HttpClient {
 public:
  explicit Provider(const Clock& clock) : clock_(clock) {}
  Task<net::HttpResult> send(Executor&, net::OutgoingRequest request) override {
    net::HttpResult result;
    result.outcome = net::HttpAnswer{200, {}, body_of(request), false};
    if (request.url == std::string(kIss) + "/token") {
      sent.push_back(request);
      if (failure) result.outcome = *failure;
    }
    co_return result;
  }
  std::string body_of(const net::OutgoingRequest& request) const {
    const std::string iss = kIss;
    if (request.url == iss + "/keys") return crypto::JwkSet(std::vector{key_.public_key()}).to_json();
    if (request.url == iss + "/token") {
      const auto now = to_unix_ms(clock_.now()) / 1000;
      json::object claims{
          {"iss", iss},       {"sub", sub},     {"aud", "client id"}, {"iat", now},
          {"exp", now + 300}, {"nonce", nonce}, {"auth_time", now},   {"email", "a@b.example"}};
      if (!states_auth_time) claims.erase("auth_time");
      return json::serialize(json::object{{"id_token", key_.sign(json::serialize(claims))}});
    }
    json::object discovery{{"issuer", iss},
                           {"jwks_uri", iss + "/keys"},
                           {"authorization_endpoint", iss + "/auth"},
                           {"token_endpoint", token_endpoint}};
    if (!methods.empty()) {
      json::array list;
      for (const auto& one : methods) list.emplace_back(one);
      discovery["token_endpoint_auth_methods_supported"] = std::move(list);
    }
    if (!listed_claims.empty()) discovery["claims_supported"] = listed_claims;
    return json::serialize(discovery);
  }
  std::string header(std::string_view name) const {
    for (const auto& [field, value] : sent.back().headers) {
      if (field == name) return value;
    }
    return {};
  }

  std::string sub = "ann";
  std::string nonce;
  std::string token_endpoint = std::string(kIss) + "/token";
  std::vector<std::string> methods;
  json::array listed_claims;
  bool states_auth_time = true;
  std::optional<net::HttpFailure> failure;
  std::vector<net::OutgoingRequest> sent;

 private:
  const Clock& clock_;
  const crypto::PrivateJwk key_ = crypto::PrivateJwk::generate(crypto::JwsAlgorithm::es256);
};

class ExternalSignInTest : public ::testing::Test {
 protected:
  ExternalSignInTest() {
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
    make(Signup::open, "s3cret&");
  }
  void make(Signup signup, std::string_view secret) {
    std::vector<ExternalIssuerOptions> options;
    options.push_back(
        {.id = "id",
         .name = "The provider",
         .iss = kIss,
         .client_id = "client id",
         .client_secret = secret.empty() ? crypto::SecretString() : crypto::SecretString(secret),
         .signup = signup});
    external_ = std::make_unique<ExternalSignIn>(
        ExternalSignIn::Deps{world_.async_db, issuer_->sessions(), gate_, provider_, world_.cipher,
                             world_.ids, world_.random, world_.clock(), world_.log},
        "https://bridge.example", std::move(options));
  }
  Expected<ExternalSignIn::Begun> begin(std::optional<storage::SessionRow> step_up = std::nullopt,
                                        std::string invitation = {}) {
    return world_.await(
        external_->begin(world_.scheduler, "id", "/deliveries", std::move(step_up), std::move(invitation)));
  }
  static std::string parameter(const std::string& url, const std::string& name) {
    const auto at = url.find("&" + name + "=");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 2;
    return url.substr(begin, url.find('&', begin) - begin);
  }
  Task<LoginResult<ExternalSignIn::Ended>> back(const ExternalSignIn::Begun& begun) {
    provider_.nonce = parameter(begun.url, "nonce");
    return external_->finish(world_.scheduler, "id", begun.attempt,
                             {.state = parameter(begun.url, "state"), .code = "code", .error = "", .iss = ""},
                             caller_, kBrowser);
  }
  LoginResult<ExternalSignIn::Ended> sign_in(std::string sub, std::string invitation = {}) {
    const auto begun = begin(std::nullopt, std::move(invitation));
    if (!begun) return std::unexpected(begun.error());
    provider_.sub = std::move(sub);
    return world_.await(back(*begun));
  }
  static std::string code(const LoginResult<ExternalSignIn::Ended>& ended) {
    return ended ? "signed in" : ended.error().code;
  }
  storage::SessionRow session_of(const ExternalSignIn::Ended& ended) {
    storage::SessionRow session;
    world_.db->read([&](storage::Tx& tx) { session = *storage::find_session(tx, ended.tokens->session); });
    return session;
  }
  static void expect_refused(const LoginResult<ExternalSignIn::Ended>& ended, Millis retry_after) {
    ASSERT_EQ(code(ended), "RATE_LIMIT_EXCEEDED");
    EXPECT_EQ(ended.error().retry_after, retry_after);
  }

  testing::World world_;
  std::unique_ptr<BuiltInIssuer> issuer_ = world_.issuer();
  Provider provider_{world_.clock()};
  SignUpGate gate_{SignUpLimits{.per_address = 2, .together = 100}, world_.clock()};
  net::Caller caller_{"192.0.2.7", false};
  std::unique_ptr<ExternalSignIn> external_;
};

TEST_F(ExternalSignInTest, ThePageAskedForHasAllThatBindsTheAnswer) {
  const auto begun = begin();
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_TRUE(begun->url.starts_with("https://id.example/auth?response_type=code&client_id=client%20id&"))
      << begun->url;
  EXPECT_EQ(parameter(begun->url, "redirect_uri"),
            "https%3A%2F%2Fbridge.example%2Fapi%2Fauth%2Fexternal%2Fid%2Fcallback");
  EXPECT_EQ(parameter(begun->url, "code_challenge_method"), "S256");
  EXPECT_EQ(parameter(begun->url, "max_age"), "");
  EXPECT_FALSE(begun->attempt.contains(parameter(begun->url, "state")));
  ASSERT_TRUE(world_.await(back(*begun)));
  const auto body = "&" + provider_.sent.at(0).body;
  EXPECT_EQ(crypto::base64url_encode(crypto::sha256(parameter(body, "code_verifier"))),
            parameter(begun->url, "code_challenge"));
  EXPECT_EQ(parameter(body, "redirect_uri"), parameter(begun->url, "redirect_uri"));
  const auto second = begin();
  for (const char* name : {"state", "nonce", "code_challenge"})
    EXPECT_NE(parameter(begun->url, name), parameter(second->url, name)) << name;
}

TEST_F(ExternalSignInTest, TheSecretIsSentAsTheProviderTakesIt) {
  ASSERT_TRUE(sign_in("ann"));
  EXPECT_EQ(provider_.header("Authorization"),
            "Basic " + crypto::base64_encode(std::string_view("client%20id:s3cret%26")));
  EXPECT_FALSE(provider_.sent.back().body.contains("secret"));
  provider_.methods = {"client_secret_post", "private_key_jwt"};
  make(Signup::open, "s3cret&");
  ASSERT_TRUE(sign_in("ann"));
  EXPECT_EQ(provider_.header("Authorization"), "");
  EXPECT_TRUE(provider_.sent.back().body.contains("&client_id=client%20id&client_secret=s3cret%26"));
  make(Signup::open, "");
  ASSERT_TRUE(sign_in("ann"));
  EXPECT_EQ(provider_.header("Authorization"), "");
  EXPECT_FALSE(provider_.sent.back().body.contains("secret"));
}

TEST_F(ExternalSignInTest, AnAttemptEndsAfterTenMinutesAndGivesOneSession) {
  const auto begun = begin();
  ASSERT_TRUE(begun);
  world_.clock().advance(kAttemptLifetime - Millis{1});
  ASSERT_TRUE(world_.await(back(*begun)));
  const auto late = begin();
  ASSERT_TRUE(late);
  world_.clock().advance(kAttemptLifetime);
  EXPECT_EQ(code(world_.await(back(*late))), "SIGN_IN_STATE_INVALID");
  const auto twice = begin();
  EXPECT_EQ(code(world_.await(back(*twice))), "signed in");
  EXPECT_EQ(code(world_.await(back(*twice))), "SIGN_IN_STATE_INVALID");
}

TEST_F(ExternalSignInTest, AProviderThatIsSlowOrAwayIsReportedAsSuch) {
  using Kind = net::HttpFailure::Kind;
  for (const auto kind : {Kind::timeout, Kind::connect, Kind::lost, Kind::tls, Kind::unresolved}) {
    provider_.failure = net::HttpFailure{kind, "in this test"};
    EXPECT_EQ(code(sign_in("ann")), "ISSUER_UNAVAILABLE");
  }
  EXPECT_EQ(provider_.sent.back().deadline, Millis{10'000});
  provider_.failure.reset();
  EXPECT_TRUE(sign_in("ann"));
}

TEST_F(ExternalSignInTest, NoSecretGoesToAnEndpointThatIsLessSafeThanTheProvider) {
  provider_.token_endpoint = "http://id.example/token";
  EXPECT_EQ(begin().error().code, "ISSUER_UNAVAILABLE");
  EXPECT_TRUE(provider_.sent.empty());
}

TEST_F(ExternalSignInTest, FirstSignInsAreCountedAndLaterOnesAreNot) {
  EXPECT_EQ(code(sign_in("one")), "signed in");
  EXPECT_EQ(code(sign_in("two")), "signed in");
  for (int n = 0; n < 5; ++n) EXPECT_EQ(code(sign_in("one")), "signed in");
  expect_refused(sign_in("three"), std::chrono::hours{1});
  caller_.network = "192.0.2.8";
  EXPECT_EQ(code(sign_in("three")), "signed in");
}

TEST_F(ExternalSignInTest, StrangersWhoUseUpAllSignUpsKeepNoColleagueFromJoining) {
  const auto owner = sign_in("owner");
  ASSERT_TRUE(owner);
  for (int n = 1; n < 100; ++n)
    ASSERT_EQ(gate_.admit({"198.51.100." + std::to_string(n), false}, world_.clock().now()), Millis{0});
  caller_.network = "192.0.2.8";
  EXPECT_EQ(code(sign_in("stranger")), "RATE_LIMIT_EXCEEDED");
  for (int n = 0; n < 5; ++n) EXPECT_EQ(code(sign_in("ann", "pdb_invite_unknown")), "INVITATION_INVALID");
  for (const char* sub : {"ann", "bob"}) {
    const auto joined = sign_in(sub, world_.invite(owner->tokens->account));
    ASSERT_TRUE(joined) << joined.error().message;
    EXPECT_EQ(joined->tokens->account, owner->tokens->account);
  }
  EXPECT_EQ(code(sign_in("cid", world_.invite(owner->tokens->account))), "RATE_LIMIT_EXCEEDED")
      << "two of a network";
}

TEST_F(ExternalSignInTest, AnInvitationToAFullAccountCostsAnAttempt) {
  const auto owner = sign_in("owner");
  ASSERT_TRUE(owner);
  world_.db->write([&](storage::Tx& tx) {
    for (int n = 1; n < kMostPeople; ++n)
      storage::insert_identity(tx, kIss, std::to_string(n),
                               {owner->tokens->account, world_.ids.make<UserId>(), "member"});
  });
  const auto invitation = world_.invite(owner->tokens->account);
  for (const char* sub : {"ann", "bob"}) EXPECT_EQ(code(sign_in(sub, invitation)), "LIMIT_REACHED");
  EXPECT_EQ(code(sign_in("cid", invitation)), "RATE_LIMIT_EXCEEDED");
}

TEST_F(ExternalSignInTest, APersonBeginsSoManySessionsInAnHour) {
  for (int n = 0; n < 200; ++n) ASSERT_EQ(code(sign_in("ann")), "signed in") << n;
  expect_refused(sign_in("ann"), Millis{18'000});
  EXPECT_EQ(code(sign_in("bob")), "signed in");
}

TEST_F(ExternalSignInTest, WhereAProviderMakesNoAccountsWhoHasOneComesInAndATryCostsNothing) {
  ASSERT_TRUE(sign_in("one"));
  make(Signup::closed, "s3cret&");
  EXPECT_EQ(code(sign_in("one")), "signed in");
  for (int n = 0; n < 5; ++n) EXPECT_EQ(code(sign_in("two")), "SIGNUP_CLOSED");
  make(Signup::open, "s3cret&");
  EXPECT_EQ(code(sign_in("two")), "signed in");
}

TEST_F(ExternalSignInTest, TwoFirstSignInsAtOnceAreOfOneAccount) {
  const auto here = begin();
  const auto there = begin();
  ASSERT_TRUE(here && there);
  std::vector<AccountId> accounts;
  for (const auto* begun : {&*here, &*there}) {
    auto ended = world_.await(back(*begun));
    ASSERT_TRUE(ended) << ended.error().message;
    accounts.push_back(ended->tokens->account);
  }
  EXPECT_EQ(accounts[0], accounts[1]);
}

TEST_F(ExternalSignInTest, AStepUpConfirmsTheSessionThatBeganIt) {
  const auto first = sign_in("ann");
  ASSERT_TRUE(first);
  auto session = session_of(*first);
  world_.clock().advance(std::chrono::minutes{20});
  const auto begun = begin(session);
  ASSERT_TRUE(begun);
  EXPECT_EQ(parameter(begun->url, "max_age"), "600");
  provider_.sub = "bob";
  EXPECT_EQ(code(world_.await(back(*begun))), "SIGN_IN_OTHER_PERSON");
  provider_.sub = "ann";
  const auto confirmed = world_.await(back(*begun));
  ASSERT_TRUE(confirmed) << confirmed.error().message;
  EXPECT_FALSE(confirmed->tokens);
  EXPECT_EQ(confirmed->return_to, "/deliveries");
  const auto tokens =
      world_.await(issuer_->sessions().refresh(world_.scheduler, first->tokens->refresh_token, kBrowser));
  ASSERT_TRUE(tokens && tokens->authenticated_at);
  EXPECT_LT(world_.clock().now() - *tokens->authenticated_at, std::chrono::seconds{1});
  world_.db->write([&](storage::Tx& tx) { storage::end_session(tx, session.user, session.id); });
  EXPECT_EQ(code(world_.await(back(*begun))), "UNAUTHORIZED");
  session.iss = "https://bridge.example";
  EXPECT_EQ(begin(session).error().code, "FORBIDDEN");
}

TEST_F(ExternalSignInTest, StepUpsCountAsSignInsOfThePerson) {
  const auto first = sign_in("ann");
  ASSERT_TRUE(first);
  const auto begun = begin(session_of(*first));
  ASSERT_TRUE(begun);
  for (int n = 1; n < 200; ++n) ASSERT_EQ(code(world_.await(back(*begun))), "signed in") << n;
  expect_refused(world_.await(back(*begun)), Millis{18'000});
}

TEST_F(ExternalSignInTest, AProviderThatNeverStatesTheTimeOfASignInConfirmsByChoosingTheAccount) {
  provider_.states_auth_time = false;
  const auto step_up = [&] {
    const auto first = sign_in("ann");
    EXPECT_TRUE(first);
    const auto begun = begin(session_of(*first));
    EXPECT_TRUE(begun);
    return std::pair(parameter(begun->url, "prompt"), code(world_.await(back(*begun))));
  };
  // It may state it, as far as its discovery document says.
  EXPECT_EQ(step_up(), std::pair(std::string(), std::string("ISSUER_ANSWER_INVALID")));
  provider_.listed_claims = {"sub", "auth_time"};
  make(Signup::open, "s3cret&");
  EXPECT_EQ(step_up(), std::pair(std::string(), std::string("ISSUER_ANSWER_INVALID")));
  provider_.listed_claims = {"sub", "iat"};
  make(Signup::open, "s3cret&");
  EXPECT_EQ(step_up(), std::pair(std::string("select_account"), std::string("signed in")));
}

}  // namespace
}  // namespace presetbridge::identity
