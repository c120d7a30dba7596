// An account that is deleted after a request of it was admitted gets nothing new; and an owner who is removed
// after theirs was admitted deletes no account. A member who is removed, and a key that is deactivated, add nothing.
#include "services/erasure/account_deletion.h"
#include "services/stores/integrations.h"
#include "services/testing.h"
#include "services/vault/vault_testing.h"
#include "services/webhooks/subscriptions.h"
#include "storage/stores/account_store.h"
#include "storage/stores/api_key_store.h"

namespace presetbridge::services {
namespace {

using testing::World;

constexpr storage::Sql kDelete{"UPDATE accounts SET deleted_at = 1 WHERE id = $1"};

class DeletedAccount : public ::testing::Test {
 protected:
  void delete_it() {
    world_.write([&](storage::Tx& tx) { tx.exec(kDelete, world_.account); });
  }
  World world_;
};

TEST_F(DeletedAccount, GetsNoStore) {
  Integrations integrations(world_.async_db, world_.ids, world_.random, world_.cipher, world_.directory,
                            [] {});
  ASSERT_TRUE(world_.await(integrations.create(world_.scheduler, world_.merchant(), {.name = "A store"})));
  delete_it();
  const auto made =
      world_.await(integrations.create(world_.scheduler, world_.merchant(), {.name = "Another store"}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "NOT_FOUND");
}

TEST_F(DeletedAccount, GetsNoWebhook) {
  Subscriptions subscriptions(world_.async_db, world_.ids, world_.random, world_.cipher,
                              net::AddressPolicy::public_https, [] {});
  const NewSubscription wanted{.url = "https://shop.example/"};
  ASSERT_TRUE(world_.await(subscriptions.create(world_.scheduler, world_.merchant(), wanted)));
  delete_it();
  const auto made = world_.await(subscriptions.create(world_.scheduler, world_.merchant(), wanted));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "NOT_FOUND");
}

TEST(DeactivatedKey, AddsNoStore) {
  World world;
  Integrations integrations(world.async_db, world.ids, world.random, world.cipher, world.directory, [] {});
  auto by = world.merchant();
  by.key = world.write([&](storage::Tx& tx) {
    const storage::ApiKeyRow key{.id = world.ids.make<ApiKeyId>(),
                                 .account = world.account,
                                 .name = "k",
                                 .rate_limit = 10,
                                 .created_at = tx.now()};
    insert_api_key(tx, key, std::array<std::byte, 32>{});
    return key.id;
  });
  ASSERT_TRUE(world.await(integrations.create(world.scheduler, by, {.name = "A store"})));
  world.write([&](storage::Tx& tx) {
    auto key = *find_api_key(tx, world.account, *by.key);
    key.active = false;
    update_api_key(tx, key);
  });
  const auto made = world.await(integrations.create(world.scheduler, by, {.name = "Another store"}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "The API key is inactive.");
}

TEST(RemovedMember, AddsNoStore) {
  World world;
  Integrations integrations(world.async_db, world.ids, world.random, world.cipher, world.directory, [] {});
  auto by = world.merchant();
  by.person = identity::Person{.id = world.ids.make<UserId>(), .role = identity::Role::member};
  const auto made = world.await(integrations.create(world.scheduler, by, {.name = "A store"}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "FORBIDDEN");
}

TEST(RemovedOwner, DeletesNoAccount) {
  World world;
  testing::VaultOfWorld vault(world);
  bool asked = false;
  AccountDeletion deletion(world.async_db, world.ids, vault.vault, [&] { asked = true; });
  auto by = world.merchant();
  by.person = identity::Person{.id = world.ids.make<UserId>(), .role = identity::Role::owner};
  const auto account =
      world.write([&](storage::Tx& tx) { return storage::find_account(tx, world.account).value(); });
  const auto deleted = world.await(deletion.run(world.scheduler, by, account.name));
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().code, "FORBIDDEN");
  EXPECT_FALSE(asked);
  EXPECT_FALSE(world.write([&](storage::Tx& tx) { return storage::is_deleted(tx, world.account); }));
}

}  // namespace
}  // namespace presetbridge::services
