#include "services/accounts/api_keys.h"

#include <chrono>

#include "crypto/api_key.h"
#include "services/accounts/api_keys_testing.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {
namespace {

using identity::Permission;
using identity::Principal;
using testing::ApiKeysTest;

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
