// Sessions, changes of passwords and signing keys of the built-in issuer.
#include "identity/built_in_issuer.h"

#include <boost/json.hpp>

#include "crypto/encoding.h"
#include "identity/built_in_issuer_testing.h"

namespace presetbridge::identity {
namespace {

using testing::BuiltInIssuerTest;
using testing::kPassword;

TEST_F(BuiltInIssuerTest, ARefreshTokenIsGoodOnceAndItsReuseEndsTheSignIn) {
  const auto first = sign_up("ann@example.com");
  const auto elsewhere = sign_in("ann@example.com");
  const auto second = refresh(first->refresh_token);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(second->refresh_token, first->refresh_token);
  EXPECT_TRUE(verify(second->id_token));
  EXPECT_EQ(second->user, first->user);

  EXPECT_EQ(refresh(first->refresh_token).error().code, "UNAUTHORIZED");
  EXPECT_FALSE(refresh(second->refresh_token)) << "its descendant is revoked too";
  EXPECT_TRUE(refresh(elsewhere->refresh_token)) << "another sign-in goes on";
}

TEST_F(BuiltInIssuerTest, RefreshTokensExpireAndAreNeverGuessed) {
  const auto tokens = sign_up("ann@example.com");
  for (const std::string& text : {std::string(), std::string("x"), std::string(kRefreshTokenPrefix),
                                  tokens->refresh_token + "A", tokens->id_token}) {
    EXPECT_EQ(refresh(text).error().code, "UNAUTHORIZED") << text;
  }
  world_.clock().advance(std::chrono::hours{24 * 30});
  EXPECT_EQ(refresh(tokens->refresh_token).error().code, "UNAUTHORIZED");
}

TEST_F(BuiltInIssuerTest, SignOutEndsOneSignIn) {
  const auto here = sign_up("ann@example.com");
  const auto elsewhere = sign_in("ann@example.com");
  ASSERT_TRUE(world_.await(issuer_->sessions().sign_out(world_.scheduler, here->refresh_token)));
  EXPECT_FALSE(refresh(here->refresh_token));
  EXPECT_TRUE(refresh(elsewhere->refresh_token));
  EXPECT_TRUE(world_.await(issuer_->sessions().sign_out(world_.scheduler, "unknown")));
}

TEST_F(BuiltInIssuerTest, APasswordChangeNeedsTheOldOneAndEndsEverySignIn) {
  const auto before = sign_up("ann@example.com");
  const auto change = [&](std::string current, std::string next) {
    return world_.await(
        issuer_->change_password(world_.scheduler, {}, person(*before), std::move(current), std::move(next)));
  };
  EXPECT_EQ(change("wrong horse battery", "another long one").error().code, "INVALID_CREDENTIALS");
  EXPECT_EQ(change(kPassword, "short").error().code, "VALIDATION_FAILED");
  const auto after = change(kPassword, "another long one");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_FALSE(refresh(before->refresh_token));
  EXPECT_TRUE(refresh(after->refresh_token));
  EXPECT_FALSE(sign_in("ann@example.com"));
  EXPECT_TRUE(sign_in("ann@example.com", "another long one"));
}

TEST_F(BuiltInIssuerTest, TheOperatorResetsAPasswordAndUnlocks) {
  const auto tokens = sign_up("ann@example.com");
  for (int i = 0; i < 5; ++i) sign_in("ann@example.com", "wrong");
  ASSERT_TRUE(
      world_.await(issuer_->reset_password(world_.scheduler, "Ann@example.com", "given by operator")));
  EXPECT_TRUE(sign_in("ann@example.com", "given by operator"));
  EXPECT_FALSE(refresh(tokens->refresh_token));
  EXPECT_EQ(world_.await(issuer_->reset_password(world_.scheduler, "x@example.com", "given by operator"))
                .error()
                .code,
            "NOT_FOUND");
}

TEST_F(BuiltInIssuerTest, AnotherNodeSignsWithTheSameKey) {
  const auto tokens = sign_up("ann@example.com");
  auto restarted = world_.issuer();
  ASSERT_TRUE(world_.await(restarted->start(world_.scheduler)));
  TokenVerifier verifier({restarted.get()}, world_.clock());
  EXPECT_TRUE(world_.await(verifier.verify(world_.scheduler, tokens->id_token)));
  EXPECT_EQ(restarted->jwks(), issuer_->jwks());
}

TEST_F(BuiltInIssuerTest, ANewKeyIsPublishedBeforeItSignsAndTheOldOneVerifiesUntilItIsDeleted) {
  const auto old = sign_up("ann@example.com");
  auto other = world_.issuer();
  ASSERT_TRUE(world_.await(other->start(world_.scheduler)));
  const auto reload = [&](BuiltInIssuer& issuer) {
    return world_.await(issuer.reload_keys(world_.scheduler));
  };
  const auto verifies = [&](BuiltInIssuer& issuer, const std::string& token) {
    const TokenVerifier verifier({&issuer}, world_.clock());
    return world_.await(verifier.verify(world_.scheduler, token)).has_value();
  };
  const auto kid_of = [](const std::string& token) {
    return std::string(crypto::text_of(*crypto::base64url_decode(token.substr(0, token.find('.')))));
  };
  EXPECT_EQ(world_.await(issuer_->add_key(world_.scheduler)), true);
  EXPECT_EQ(world_.await(other->add_key(world_.scheduler)), false) << "there are two";
  EXPECT_EQ(reload(*issuer_), 2);
  world_.clock().advance(kSigningKeyKnown - Millis{1});
  EXPECT_EQ(reload(*issuer_), 2);
  EXPECT_EQ(kid_of(sign_in("ann@example.com")->id_token), kid_of(old->id_token));

  // The other node has read the table in the time that it had for it.
  EXPECT_EQ(reload(*other), 2);
  world_.clock().advance(Millis{2});  // the key is later than the first, which was made at the same time
  EXPECT_EQ(reload(*issuer_), 2);
  const auto fresh = sign_in("ann@example.com");
  EXPECT_NE(kid_of(fresh->id_token), kid_of(old->id_token));
  for (auto* issuer : {issuer_.get(), other.get()}) {
    EXPECT_TRUE(verifies(*issuer, fresh->id_token));
    EXPECT_TRUE(verifies(*issuer, old->id_token));
  }
  world_.db->write(
      [](storage::Tx& tx) { storage::delete_issuer_key(tx, storage::issuer_keys(tx).at(1).kid); });
  EXPECT_EQ(reload(*issuer_), 1);
  EXPECT_TRUE(verifies(*issuer_, fresh->id_token));
  EXPECT_FALSE(verifies(*issuer_, old->id_token));
}

TEST_F(BuiltInIssuerTest, PrivateKeysAreNeitherPublishedNorStoredInTheClear) {
  const auto set = boost::json::parse(issuer_->jwks()).as_object();
  ASSERT_EQ(set.at("keys").as_array().size(), 1U);
  const auto& key = set.at("keys").as_array()[0].as_object();
  EXPECT_EQ(key.at("alg").as_string(), "ES256");
  EXPECT_FALSE(key.contains("d"));
  const auto discovery = boost::json::parse(issuer_->discovery_document()).as_object();
  EXPECT_EQ(discovery.at("issuer").as_string(), "https://bridge.example");
  EXPECT_EQ(discovery.at("jwks_uri").as_string(), "https://bridge.example/.well-known/jwks.json");

  world_.db->read([](storage::Tx& tx) {
    for (const auto& row : storage::issuer_keys(tx)) {
      EXPECT_FALSE(crypto::text_of(row.encrypted_private_jwk).contains("\"d\""));
    }
  });
}

TEST_F(BuiltInIssuerTest, AServiceKeyThatIsNotTheRowsStopsTheStart) {
  presetbridge::testing::SeededRandom other(99);
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(other));
  crypto::ServiceCipher cipher(std::move(keys), other);
  BuiltInIssuer issuer({world_.async_db, world_.passwords, world_.hasher, cipher, world_.ids, world_.random,
                        world_.clock(), world_.log},
                       {.iss = "https://bridge.example"});
  const auto started = world_.await(issuer.start(world_.scheduler));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "UNKNOWN_SERVICE_KEY");
}

}  // namespace
}  // namespace presetbridge::identity
