#include "services/accounts/api_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>

#include "crypto/api_key.h"
#include "identity/testing.h"
#include "services/accounts/accounts.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {
namespace {

using identity::Permission;
using identity::Principal;

class ApiKeysTest : public ::testing::Test {
 protected:
  ApiKeysTest() {
    ann_ = person("ann");
    bob_ = person("bob");
  }
  Principal person(const std::string& sub) {
    Accounts accounts(world_.async_db, world_.ids, identity::Signup::open);
    return world_
        .await(accounts.principal_of(world_.scheduler, {"https://id.example", sub, sub + "@example.com", {}}))
        .value();
  }
  IssuedApiKey create(const Principal& by, NewApiKey wanted = {.name = "Shop"}) {
    return world_.await(keys_.create(world_.scheduler, by, std::move(wanted))).value();
  }
  Expected<ApiKey> change(const Principal& by, ApiKeyId id, ApiKeyChange wanted) {
    return world_.await(keys_.change(world_.scheduler, by, id, std::move(wanted)));
  }
  Expected<IssuedApiKey> rotate(ApiKeyId id, Millis overlap) {
    return world_.await(keys_.rotate(world_.scheduler, ann_, id, overlap));
  }
  KeyCheck admit(const std::string& secret) { return world_.await(keys_.admit(world_.scheduler, secret)); }
  std::string code(const std::string& secret) {
    const auto check = admit(secret);
    return check.principal ? "ok" : check.principal.error().code;
  }
  // Requests of which the first is not answered before the last has come, by the order of the answers.
  std::vector<KeyCheck> admit_together(const std::string& secret, std::size_t requests) {
    std::vector<KeyCheck> checks;
    world_.async_db.submit([](storage::Tx&) {},
                           [&](const std::exception_ptr&, storage::Completions&) {
                             for (std::size_t i = 0; i < requests; ++i) {
                               spawn(keys_.admit(world_.scheduler, secret),
                                     [&](auto outcome) { checks.push_back(std::move(*outcome.value)); });
                             }
                           });
    world_.scheduler.run();
    return checks;
  }
  std::uint64_t units() const { return world_.async_db.stats().units; }
  ApiKey read(ApiKeyId id) { return world_.await(keys_.get(world_.scheduler, ann_, id)).value(); }
  IntegrationId integration(const Principal& of) {
    storage::IntegrationRow row;
    row.id = world_.ids.make<IntegrationId>();
    row.account = of.account;
    row.name = "Store";
    row.encrypted_secret = {std::byte{1}};
    world_.db->write([&](storage::Tx& tx) { storage::insert_integration(tx, row); });
    return row.id;
  }

  identity::testing::World world_;
  ApiKeys keys_{world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {}};
  Principal ann_, bob_;
};

TEST_F(ApiKeysTest, AnAccountThatWasDeletedMeanwhileGetsNoKeyAndNoName) {
  Accounts accounts(world_.async_db, world_.ids, identity::Signup::open);
  world_.await(world_.async_db.write(
      world_.scheduler, [&](storage::Tx& tx) { storage::delete_account_data(tx, ann_.account); }));
  const auto key = world_.await(keys_.create(world_.scheduler, ann_, {.name = "late"}));
  EXPECT_EQ(key ? "made" : key.error().code, "NOT_FOUND");
  const auto changed = world_.await(accounts.change(world_.scheduler, ann_, {.name = "Ann's shop"}));
  EXPECT_EQ(changed ? "changed" : changed.error().code, "NOT_FOUND");
}

TEST_F(ApiKeysTest, AnOwnerWhoIsRemovedOrMadeAMemberMeanwhileMakesRotatesAndChangesNoKey) {
  const auto issued = create(ann_);
  const auto expect_refusals = [&] {
    const auto made = world_.await(keys_.create(world_.scheduler, ann_, {.name = "late"}));
    EXPECT_EQ(made ? "made" : made.error().code, "FORBIDDEN");
    const auto rotated = rotate(issued.key.id, Millis{0});
    EXPECT_EQ(rotated ? "rotated" : rotated.error().code, "FORBIDDEN");
    const auto changed = change(ann_, issued.key.id, {.permissions = {{Permission::login}}});
    EXPECT_EQ(changed ? "changed" : changed.error().code, "FORBIDDEN");
  };
  const auto ann = [&](storage::Tx& tx) {
    return storage::find_person(tx, ann_.account, ann_.person->id).value();
  };
  world_.db->write([&](storage::Tx& tx) { storage::set_role(tx, ann(tx), "member"); });
  expect_refusals();
  world_.db->write([&](storage::Tx& tx) { storage::delete_person(tx, ann(tx)); });
  expect_refusals();
  EXPECT_EQ(world_.await(keys_.list(world_.scheduler, ann_, {}, true)).value().rows.size(), 1U);
}

TEST_F(ApiKeysTest, AKeyOpensItsAccountWithTheDefaultPermissions) {
  const auto issued = create(ann_);
  EXPECT_TRUE(crypto::is_well_formed_api_key(issued.secret));
  EXPECT_TRUE(issued.secret.ends_with(issued.key.preview.substr(issued.key.preview.size() - 4)));
  const auto check = admit(issued.secret);
  ASSERT_TRUE(check.principal);
  EXPECT_EQ(check.principal->account, ann_.account);
  EXPECT_EQ(check.principal->key, issued.key.id);
  EXPECT_TRUE(check.principal->may(Permission::deliveries_read));
  EXPECT_FALSE(check.principal->may(Permission::login));
  EXPECT_FALSE(check.principal->may(Permission::deliveries_any_file));
  EXPECT_FALSE(check.principal->may(Permission::account));
  EXPECT_TRUE(check.principal->integrations.all());
}

TEST_F(ApiKeysTest, TheSecretIsStoredNowhere) {
  const auto issued = create(ann_);
  world_.db->read([&](storage::Tx& tx) {
    const auto row = storage::find_api_key_by_hash(tx, crypto::api_key_hash(issued.secret));
    ASSERT_TRUE(row);
    EXPECT_FALSE(row->preview.contains(issued.secret.substr(9, 8)));
    for (const auto& entry : storage::list_audit(tx, ann_.account, {}).rows) {
      EXPECT_FALSE(entry.detail.contains(issued.secret.substr(9, 8)));
    }
  });
}

TEST_F(ApiKeysTest, WhatIsNoKeyOrNotOursIsUnauthorized) {
  const auto stranger = crypto::generate_api_key(world_.random);
  for (const std::string& text : {std::string(), std::string("pdb_live_"), stranger, stranger.substr(1)}) {
    EXPECT_EQ(code(text), "UNAUTHORIZED") << text;
  }
}

TEST_F(ApiKeysTest, AnInactiveOrExpiredKeyIsForbiddenAndAReactivatedOneIsGood) {
  const auto issued =
      create(ann_, {.name = "Shop", .expires_at = world_.clock().now() + std::chrono::hours{2}});
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = false}));
  EXPECT_EQ(code(issued.secret), "FORBIDDEN");
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = true}));
  EXPECT_EQ(code(issued.secret), "ok");
  world_.clock().advance(std::chrono::hours{2});
  EXPECT_EQ(code(issued.secret), "FORBIDDEN");
  EXPECT_EQ(read(issued.key.id).requests, 1) << "refused requests are not counted";
}

TEST_F(ApiKeysTest, AHundredRequestsAnHourAndRefusalsDoNotExtendTheWindow) {
  const auto issued = create(ann_);
  for (int i = 0; i < 100; ++i) {
    const auto check = admit(issued.secret);
    ASSERT_TRUE(check.principal) << i;
    EXPECT_EQ(check.rate->remaining, 99 - i);
    world_.clock().advance(std::chrono::seconds{1});
  }
  for (int i = 0; i < 3; ++i) {
    const auto check = admit(issued.secret);
    ASSERT_FALSE(check.principal);
    EXPECT_EQ(check.principal.error(), (Error{"RATE_LIMIT_EXCEEDED", "Rate limit exceeded", {}}));
    EXPECT_EQ(check.rate->retry_after, std::chrono::seconds{3500});
  }
  world_.clock().advance(Millis{3'499'999});
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED") << "one left the window, one came";
  EXPECT_EQ(read(issued.key.id).requests, 101);
}

TEST_F(ApiKeysTest, AThousandRefusedRequestsOfAKeyInASecondAreOneUnitOfWork) {
  const auto inactive = create(ann_);
  ASSERT_TRUE(change(ann_, inactive.key.id, {.active = false}));
  const auto limited = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(limited.secret), "ok");
  EXPECT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  const auto before = units();
  for (int i = 1; i < 1'000; ++i) {
    world_.clock().advance(Millis{1});
    ASSERT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
    ASSERT_EQ(code(inactive.secret), "FORBIDDEN");
  }
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(code(limited.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(units() - before, 2U);

  spawn(keys_.limited().flush(world_.scheduler), [](const auto&) {});
  world_.scheduler.run();
  std::int64_t counted = 0;
  world_.db->read([&](storage::Tx& tx) {
    counted = 0;
    const auto now = world_.clock().now();
    const auto today = std::chrono::floor<std::chrono::days>(now);
    const auto kind = static_cast<std::int64_t>(storage::Activity::limited);
    storage::find_activity(tx,
                           {.account = ann_.account,
                            .from = today,
                            .to = today + std::chrono::days{1},
                            .first_day = today,
                            .end_day = today,
                            .first_kind = kind,
                            .last_kind = kind},
                           [&](const storage::ActivitySum& sum) { counted += sum.amount; });
  });
  EXPECT_EQ(counted, 1'001) << "the usage has every request over the limit";
}

TEST_F(ApiKeysTest, ARefusalThatIsRememberedCountsDownAndEndsWhenTheLimitAdmitsAgain) {
  const auto issued = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(issued.secret), "ok");
  world_.clock().advance(std::chrono::hours{1} - Millis{700});
  ASSERT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  const auto before = units();
  for (const int left : {500, 100, 1}) {
    world_.clock().advance(admit(issued.secret).rate->retry_after - Millis{left});
    const auto check = admit(issued.secret);
    ASSERT_FALSE(check.principal);
    EXPECT_EQ(check.rate->retry_after, Millis{left});
    EXPECT_EQ(check.rate->reset_after, Millis{left});
    EXPECT_EQ(check.rate->remaining, 0);
  }
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code(issued.secret), "ok");
}

TEST_F(ApiKeysTest, AClockThatIsSetBackDuringACheckProlongsNoRefusal) {
  const auto inactive = create(ann_);
  ASSERT_TRUE(change(ann_, inactive.key.id, {.active = false}));
  world_.async_db.submit([](storage::Tx&) {},
                         [&](const std::exception_ptr&, storage::Completions&) {
                           spawn(keys_.admit(world_.scheduler, inactive.secret), [](const auto&) {});
                           world_.clock().advance(-std::chrono::hours{1});
                         });
  world_.scheduler.run();
  const auto before = units();
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(units() - before, 0U);
  world_.clock().advance(KeyAdmissions::kRemembered);
  EXPECT_EQ(code(inactive.secret), "FORBIDDEN");
  EXPECT_EQ(units() - before, 1U);
}

TEST_F(ApiKeysTest, AKeyThatIsChangedIsGoodAtOnceHereAndASecondLaterOnOtherNodes) {
  const auto issued = create(ann_);
  ApiKeys other(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {});
  const auto code_there = [&] {
    const auto check = world_.await(other.admit(world_.scheduler, issued.secret));
    return check.principal ? "ok" : check.principal.error().code;
  };
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = false}));
  EXPECT_EQ(code(issued.secret), "FORBIDDEN");
  EXPECT_EQ(code_there(), "FORBIDDEN");
  ASSERT_TRUE(change(ann_, issued.key.id, {.active = true}));
  EXPECT_EQ(code(issued.secret), "ok");
  world_.clock().advance(KeyAdmissions::kRemembered - Millis{1});
  EXPECT_EQ(code_there(), "FORBIDDEN");
  world_.clock().advance(Millis{1});
  EXPECT_EQ(code_there(), "ok");

  for (int i = 0; i < 98; ++i) ASSERT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 101)));
  EXPECT_EQ(code(issued.secret), "ok");
}

TEST_F(ApiKeysTest, RequestsOfAKeyThatComeTogetherShareUnitsAndExactlyItsLimitIsAdmitted) {
  const auto issued = create(ann_);
  const auto before = units();
  const auto checks = admit_together(issued.secret, 150);
  std::vector<std::int64_t> left;
  for (const auto& check : checks) {
    if (check.principal) left.push_back(check.rate->remaining);
  }
  std::vector<std::int64_t> expected(100);
  std::iota(expected.rbegin(), expected.rend(), 0);
  EXPECT_EQ(left, expected);
  EXPECT_EQ(std::ranges::count_if(checks,
                                  [](const KeyCheck& check) {
                                    return !check.principal &&
                                           check.principal.error().code == "RATE_LIMIT_EXCEEDED";
                                  }),
            50);
  // That of admit_together(), one request, four times 32 at most, and the count of those over the limit.
  EXPECT_EQ(units() - before, 7U);
  EXPECT_EQ(read(issued.key.id).requests, 100);
}

TEST_F(ApiKeysTest, RequestsThatWaitForAKeyAreBoundedAndTheRestCountInNoHour) {
  const auto issued = create(ann_);
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 10'000)));
  const auto checks = admit_together(issued.secret, KeyAdmissions::kMostWaiting + 5);
  EXPECT_EQ(std::ranges::count_if(checks,
                                  [](const KeyCheck& check) {
                                    return !check.principal && check.principal.error().code == "OVERLOADED" &&
                                           !check.rate;
                                  }),
            5);
  EXPECT_EQ(read(issued.key.id).requests, std::ssize(checks) - 5);
}

TEST_F(ApiKeysTest, TheWindowOutlivesARestartAndIsTheKeysOwn) {
  const auto first = create(ann_);
  const auto second = create(ann_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(code(first.secret), "ok");
  ApiKeys restarted(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {});
  EXPECT_FALSE(world_.await(restarted.admit(world_.scheduler, first.secret)).principal);
  EXPECT_TRUE(world_.await(restarted.admit(world_.scheduler, second.secret)).principal);
}

TEST_F(ApiKeysTest, NoRollingHourAdmitsMoreThanTheLimit) {
  EXPECT_TRUE(rc::check("admitted requests in every window are at most the limit", [this] {
    const auto limit = *rc::gen::inRange<std::int64_t>(1, 12);
    const Millis window{*rc::gen::inRange(1, 2000)};
    ApiKeys keys(world_.async_db, world_.ids, world_.random, world_.clock(), world_.log,
                 {.rate_limit = limit, .rate_window = window, .max_active = 1'000'000});
    const auto secret = world_.await(keys.create(world_.scheduler, ann_, {.name = "p"})).value().secret;
    std::deque<Timestamp> admitted;
    for (const auto step : *rc::gen::container<std::vector<int>>(30, rc::gen::inRange(0, 400))) {
      world_.clock().advance(Millis{step});
      const auto now = world_.clock().now();
      while (!admitted.empty() && admitted.front() <= now - window) admitted.pop_front();
      const bool ok = world_.await(keys.admit(world_.scheduler, secret)).principal.has_value();
      // Exact both ways: no more than the limit, and nothing refused that fits.
      RC_ASSERT(ok == (std::ssize(admitted) < limit));
      if (ok) admitted.push_back(now);
    }
  }));
}

TEST_F(ApiKeysTest, FiftyKeysOfAnAccountCanBeActive) {
  std::vector<IssuedApiKey> issued;
  for (int i = 0; i < 50; ++i) issued.push_back(create(ann_));
  const auto more = world_.await(keys_.create(world_.scheduler, ann_, {.name = "51"}));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, "LIMIT_REACHED");
  create(bob_);
  EXPECT_EQ(rotate(issued[0].key.id, std::chrono::hours{1}).error().code, "LIMIT_REACHED")
      << "both would be active";
  EXPECT_EQ(read(issued[0].key.id).expires_at, std::nullopt) << "the refusal left the old key alone";
  ASSERT_TRUE(rotate(issued[0].key.id, Millis{0}));
  ASSERT_TRUE(change(ann_, issued[1].key.id, {.active = false}));
  create(ann_);
  EXPECT_EQ(change(ann_, issued[1].key.id, {.active = true}).error().code, "LIMIT_REACHED");
}

TEST_F(ApiKeysTest, RotationGivesTheSameRightsAndEndsTheOldKeyAfterTheOverlap) {
  const auto old = create(ann_, {.name = "Shop", .permissions = {Permission::login}});
  ASSERT_EQ(code(old.secret), "ok");
  const auto fresh = rotate(old.key.id, std::chrono::hours{1});
  ASSERT_TRUE(fresh);
  EXPECT_NE(fresh->secret, old.secret);
  EXPECT_EQ(fresh->key.rotated_from, old.key.id);
  EXPECT_EQ(fresh->key.permissions, old.key.permissions);
  EXPECT_EQ(fresh->key.requests, 0);
  EXPECT_EQ(code(old.secret), "ok");
  EXPECT_EQ(code(fresh->secret), "ok");
  // Another successor would end with the overlap.
  EXPECT_EQ(rotate(old.key.id, std::chrono::hours{1}).error().code, "CONFLICT");
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_EQ(code(old.secret), "FORBIDDEN");
  EXPECT_EQ(code(fresh->secret), "ok");
  EXPECT_EQ(rotate(old.key.id, Millis{0}).error().code, "CONFLICT");

  const auto last = rotate(fresh->key.id, Millis{0});
  ASSERT_TRUE(last);
  EXPECT_EQ(code(fresh->secret), "FORBIDDEN");
  EXPECT_EQ(code(last->secret), "ok");
}

TEST_F(ApiKeysTest, TheIntegrationsOfARotatedKeyAreItsSuccessors) {
  const auto old = create(ann_);
  const auto other = create(ann_);
  const auto owned_by = [&](const Principal& of, ApiKeyId owner) {
    const auto id = integration(of);
    world_.db->write([&](storage::Tx& tx) {
      auto row = storage::lock_integration(tx, id).value();
      row.owning_key = owner;
      storage::update_integration(tx, row);
    });
    return id;
  };
  const auto mine = owned_by(ann_, old.key.id);
  const auto others = owned_by(ann_, other.key.id);
  const auto nobodys = owned_by(ann_, ApiKeyId{});
  const auto find = [&](IntegrationId id) {
    std::optional<storage::IntegrationRow> row;
    world_.db->read([&](storage::Tx& tx) { row = storage::find_integration(tx, id); });
    return *row;
  };
  const auto version = find(mine).version;
  const auto fresh = rotate(old.key.id, std::chrono::hours{1});
  ASSERT_TRUE(fresh);
  EXPECT_EQ(find(mine).owning_key, fresh->key.id);
  EXPECT_GT(find(mine).version, version) << "copies of it are out of date";
  EXPECT_EQ(find(others).owning_key, other.key.id);
  EXPECT_EQ(find(nobodys).owning_key, ApiKeyId{});
}

TEST_F(ApiKeysTest, AKeyIsScopedToIntegrationsOfItsAccountOnly) {
  const auto mine = integration(ann_);
  const auto theirs = integration(bob_);
  const auto refused = world_.await(keys_.create(
      world_.scheduler, ann_, {.name = "x", .integrations = identity::IntegrationScope({mine, theirs})}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "VALIDATION_FAILED");
  EXPECT_TRUE(refused.error().details.at(0).problem.contains(to_string(theirs)));

  const auto issued = create(ann_, {.name = "x", .integrations = identity::IntegrationScope({mine})});
  const auto check = admit(issued.secret);
  EXPECT_TRUE(check.principal->sees(mine));
  EXPECT_FALSE(check.principal->sees(theirs));
}

TEST_F(ApiKeysTest, AnotherAccountsKeyIsNotThere) {
  const auto issued = create(ann_);
  EXPECT_EQ(world_.await(keys_.get(world_.scheduler, bob_, issued.key.id)).error().code, "NOT_FOUND");
  EXPECT_EQ(change(bob_, issued.key.id, {.active = false}).error().code, "NOT_FOUND");
  EXPECT_EQ(world_.await(keys_.rotate(world_.scheduler, bob_, issued.key.id, Millis{0})).error().code,
            "NOT_FOUND");
  EXPECT_TRUE(world_.await(keys_.list(world_.scheduler, bob_, {}, std::nullopt)).value().rows.empty());
  EXPECT_EQ(code(issued.secret), "ok");
}

TEST_F(ApiKeysTest, ListsArePagedFromTheNewestAndFiltered) {
  std::vector<ApiKeyId> made;
  for (int i = 0; i < 5; ++i) made.push_back(create(ann_).key.id);
  ASSERT_TRUE(change(ann_, made[2], {.active = false}));
  const auto list = [&](storage::PageRequest page, std::optional<bool> active) {
    return world_.await(keys_.list(world_.scheduler, ann_, page, active)).value();
  };
  const auto first = list({.limit = 2}, std::nullopt);
  ASSERT_EQ(first.rows.size(), 2U);
  EXPECT_EQ(first.rows[0].id, made[4]);
  ASSERT_TRUE(first.next);
  const auto second = list({.limit = 3, .before = *first.next}, std::nullopt);
  ASSERT_EQ(second.rows.size(), 3U);
  EXPECT_EQ(second.rows[0].id, made[2]);
  EXPECT_FALSE(second.next);
  EXPECT_EQ(list({}, true).rows.size(), 4U);
  ASSERT_EQ(list({}, false).rows.size(), 1U);
}

TEST_F(ApiKeysTest, EveryChangeIsInTheAuditLogOnce) {
  const auto issued = create(ann_);
  change(ann_, issued.key.id, {.name = "Other", .active = false, .permissions = {{Permission::login}}});
  change(ann_, issued.key.id, {.name = "Other", .active = false});
  change(ann_, issued.key.id, {.active = true});
  rotate(issued.key.id, Millis{0});
  std::vector<std::string> actions;
  world_.db->read([&](storage::Tx& tx) {
    actions.clear();
    for (const auto& row : storage::list_audit(tx, ann_.account, {}).rows) {
      EXPECT_EQ(row.actor, to_string(ann_.person->id));
      actions.push_back(row.action);
    }
  });
  EXPECT_EQ(actions, (std::vector<std::string>{"api_key.rotated", "api_key.reactivated",
                                               "api_key.permissions_changed", "api_key.deactivated",
                                               "api_key.renamed", "api_key.created", "account.created"}));
}

TEST_F(ApiKeysTest, TheOperatorRaisesALimit) {
  const auto issued = create(ann_);
  ASSERT_TRUE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 101)));
  for (int i = 0; i < 101; ++i) ASSERT_EQ(code(issued.secret), "ok");
  EXPECT_EQ(code(issued.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_FALSE(world_.await(keys_.set_rate_limit(world_.scheduler, issued.key.id, 0)));
}

TEST_F(ApiKeysTest, ARateLogThatCannotBeReadCountsAsFullAndIsLogged) {
  const auto key = create(ann_);
  const std::array<std::byte, 3> torn{};
  world_.db->write([&](storage::Tx& tx) { storage::replace_api_key_rate_log(tx, key.key.id, torn); });
  EXPECT_EQ(code(key.secret), "RATE_LIMIT_EXCEEDED");
  EXPECT_TRUE(world_.log.text.contains("key=" + to_string(key.key.id))) << world_.log.text;
  EXPECT_FALSE(world_.log.text.contains(key.secret));
  world_.log.text.clear();
  world_.clock().advance(std::chrono::minutes{59});
  EXPECT_EQ(code(key.secret), "RATE_LIMIT_EXCEEDED");
  world_.clock().advance(std::chrono::minutes{1});
  EXPECT_EQ(code(key.secret), "ok");
  EXPECT_EQ(world_.log.text, "");
}

TEST_F(ApiKeysTest, AFirstTokenFoundsOneAccountAndLaterOnesFindIt) {
  EXPECT_EQ(person("ann").account, ann_.account);
  EXPECT_NE(ann_.account, bob_.account);
  Accounts closed(world_.async_db, world_.ids, identity::Signup::closed);
  const auto known =
      world_.await(closed.principal_of(world_.scheduler, {"https://id.example", "ann", "", {}}));
  EXPECT_TRUE(known);
  const auto other_issuer = world_.await(
      closed.principal_of(world_.scheduler, {"https://x.example", "ann", "ann@example.com", {}}));
  ASSERT_FALSE(other_issuer) << "never joined by subject alone or e-mail";
  EXPECT_EQ(other_issuer.error().code, "FORBIDDEN");
}

}  // namespace
}  // namespace presetbridge::services
