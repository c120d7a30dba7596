// The account may change while the platform checks a login (spec 5.1).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "services/vault/vault_testing.h"

namespace presetbridge::services {
namespace {

using testing::VaultOfWorld;
using testing::World;

constexpr storage::Sql kDelete{"UPDATE accounts SET deleted_at = 1 WHERE id = $1"};
constexpr storage::Sql kCount{"SELECT count(*) FROM credentials WHERE version > 1"};

TEST(Vault, ALoginIsNotStoredForAnAccountThatIsDeletedMeanwhile) {
  World world;
  VaultOfWorld vault(world);
  world.agent.during = [&] { world.write([&](storage::Tx& tx) { tx.exec(kDelete, world.account); }); };
  const auto saved = world.await(
      vault.vault.save(world.scheduler, world.merchant(), "m@example.com", crypto::SecretString("secret")));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, "NOT_FOUND");
  const auto stored = world.write([](storage::Tx& tx) {
    return tx.one(kCount, [](const storage::Row& r) { return r.int64(0); }).value();
  });
  EXPECT_EQ(stored, 0);
}

TEST(Vault, ALoginIsNotStoredForAnOwnerWhoIsRemovedMeanwhile) {
  World world;
  VaultOfWorld vault(world);
  auto by = world.merchant();
  by.person = identity::Person{.id = world.ids.make<UserId>()};
  const auto saved =
      world.await(vault.vault.save(world.scheduler, by, "m@example.com", crypto::SecretString("secret")));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, "FORBIDDEN");
}

// Spec 8.6: others find places while one account's logins take long.
TEST(Vault, AnAccountHasSoManyLoginsAtOneTime) {
  World world;
  VaultOfWorld vault(world);
  auto other = world.merchant();
  other.account = world.add_tenant("m-2").account;
  std::map<std::string, int> ended;
  int number = 0;
  const auto save = [&](const identity::Principal& by) {
    spawn(vault.vault.save(world.scheduler, by, "m" + std::to_string(++number) + "@example.com",
                           crypto::SecretString("secret")),
          [&](auto outcome) {
            const auto& saved = *outcome.value;
            ++ended[saved ? "saved" : saved.error().code];
          });
  };
  const int most = LoginLimits{}.account_at_once;
  for (int n = 0; n < most + 2; ++n) save(world.merchant());
  EXPECT_EQ(ended, (std::map<std::string, int>{{"OVERLOADED", 2}}))
      << "at once, as where the agent has no place";
  save(other);
  world.settle();
  EXPECT_EQ(ended["saved"], most + 1);
  save(world.merchant());
  world.settle();
  EXPECT_EQ(ended, (std::map<std::string, int>{{"OVERLOADED", 2}, {"saved", most + 2}}));
}

}  // namespace
}  // namespace presetbridge::services
