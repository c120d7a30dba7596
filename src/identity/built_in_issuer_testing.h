// A fixture for the tests of the service's own sign-in, with short words for what people do.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "identity/built_in_issuer.h"
#include "identity/testing.h"

namespace presetbridge::identity::testing {

inline constexpr const char* kPassword = "correct horse battery";

class BuiltInIssuerTest : public ::testing::Test {
 protected:
  BuiltInIssuerTest() {
    issuer_ = world_.issuer();
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
  }
  LoginResult<Tokens> sign_up(std::string email, std::string password = kPassword, std::string network = "") {
    net::Caller caller;
    if (!network.empty()) caller = {std::move(network), false};
    return world_.await(
        issuer_->sign_up(world_.scheduler, std::move(caller), std::move(email), std::move(password), ""));
  }
  LoginResult<Tokens> join(std::string email, std::string invitation, std::string network) {
    return world_.await(issuer_->sign_up(world_.scheduler, {std::move(network), false}, std::move(email),
                                         kPassword, "", {}, std::move(invitation)));
  }
  LoginResult<Tokens> change_email(const Tokens& of, std::string email, std::string network = "") {
    net::Caller caller;
    if (!network.empty()) caller = {std::move(network), false};
    return world_.await(
        issuer_->change_email(world_.scheduler, std::move(caller), person(of), kPassword, std::move(email)));
  }
  LoginResult<Tokens> sign_in(std::string email, std::string password = kPassword) {
    return world_.await(issuer_->sign_in(world_.scheduler, {}, std::move(email), std::move(password)));
  }
  Expected<Tokens> refresh(std::string token) {
    return world_.await(issuer_->sessions().refresh(world_.scheduler, std::move(token), {}));
  }
  Expected<VerifiedToken> verify(const std::string& token) {
    TokenVerifier verifier({issuer_.get()}, world_.clock());
    return world_.await(verifier.verify(world_.scheduler, token));
  }
  static Principal person(const Tokens& tokens) {
    Principal p;
    p.account = tokens.account;
    p.person =
        Person{tokens.user, Role::owner, "https://bridge.example", to_string(tokens.user), tokens.email};
    return p;
  }

  void limit_signups(SignUpLimits limits) {
    issuer_ = world_.issuer({.iss = "https://bridge.example", .signups = limits});
    ASSERT_TRUE(world_.await(issuer_->start(world_.scheduler)));
  }

  // From here on nothing can be hashed.
  void use_overloaded_hasher(std::optional<SignUpLimits> limits = std::nullopt) {
    issuer_ = std::make_unique<BuiltInIssuer>(
        BuiltInIssuer::Deps{world_.async_db, full_, world_.hasher, world_.cipher, world_.ids, world_.random,
                            world_.clock(), world_.log},
        BuiltInIssuerOptions{.iss = "https://bridge.example", .signups = limits});
    ASSERT_TRUE(world_.await(issuer_->start(world_.scheduler)));
  }

  std::int64_t rows_of_attempts() {
    static constexpr storage::Sql kCount{"SELECT count(*) FROM sign_in_tries"};
    std::int64_t rows = -1;
    world_.db->read([&](storage::Tx& tx) {
      rows = tx.one(kCount, [](const storage::Row& r) { return r.int64(0); }).value_or(-1);
    });
    return rows;
  }

  World world_;
  PasswordWorkers full_{world_.hasher, {.threads = 0, .max_queue = 0}};
  std::unique_ptr<BuiltInIssuer> issuer_;
};

}  // namespace presetbridge::identity::testing
