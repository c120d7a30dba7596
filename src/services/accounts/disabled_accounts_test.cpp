// Tests of services/accounts/disabled_accounts.h, and of what a directory of stores makes of it.
#include "services/accounts/disabled_accounts.h"

#include <gtest/gtest.h>

#include "services/testing.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/disabled_account_store.h"

namespace presetbridge::services {
namespace {

using services::testing::World;

class DisabledAccountsTest : public ::testing::Test {
 protected:
  DisabledAccountsTest() { world_.scheduler.run(); }

  template <class T>
  T await(Task<T> task) {
    return world_.await(std::move(task));
  }
  bool disabled(DisabledAccounts& node) {
    return await(node.holds(world_.scheduler, world_.account)).value();
  }

  World world_;
  DisabledAccounts here_{world_.async_db, world_.ids, world_.database.clock};
  DisabledAccounts there_{world_.async_db, world_.ids, world_.database.clock};  // another node
};

TEST_F(DisabledAccountsTest, CountsAtOnceHereAndSoonOnOtherNodes) {
  EXPECT_FALSE(disabled(here_));
  EXPECT_FALSE(disabled(there_));
  EXPECT_TRUE(await(here_.disable(world_.scheduler, world_.account, "a reason")).value());
  EXPECT_TRUE(disabled(here_));
  EXPECT_FALSE(disabled(there_));
  world_.database.clock.advance(DisabledAccounts::kMaxAge);
  EXPECT_TRUE(disabled(there_));
  EXPECT_TRUE(await(here_.enable(world_.scheduler, world_.account)).value());
  EXPECT_FALSE(disabled(here_));
  EXPECT_TRUE(disabled(there_));
  world_.database.clock.advance(DisabledAccounts::kMaxAge);
  EXPECT_FALSE(disabled(there_));
}

TEST_F(DisabledAccountsTest, ChangesNothingTwiceAndNotesEachChange) {
  EXPECT_TRUE(await(here_.disable(world_.scheduler, world_.account, "first")).value());
  EXPECT_FALSE(await(there_.disable(world_.scheduler, world_.account, "second")).value());
  EXPECT_TRUE(await(there_.enable(world_.scheduler, world_.account)).value());
  EXPECT_FALSE(await(here_.enable(world_.scheduler, world_.account)).value());
  std::vector<std::string> noted;
  world_.database->read([&](storage::Tx& tx) {
    for (const auto& row : storage::list_audit(tx, world_.account, {}).rows)
      noted.push_back(row.actor + " " + row.action + " " + row.detail);
  });
  EXPECT_EQ(noted,
            (std::vector<std::string>{"operator account.enabled ", "operator account.disabled first"}));
}

TEST_F(DisabledAccountsTest, KnowsOnlyAccountsAndShortReasons) {
  EXPECT_EQ(await(here_.disable(world_.scheduler, AccountId{77}, "")).error().code, "NOT_FOUND");
  EXPECT_EQ(await(here_.disable(world_.scheduler, world_.account, std::string(501, 'x'))).error().code,
            "VALIDATION_FAILED");
  EXPECT_FALSE(disabled(here_));
}

TEST_F(DisabledAccountsTest, TheListIsBounded) {
  std::vector<AccountId> many;
  for (std::size_t i = 1; i <= storage::kMostDisabledAccounts; ++i)
    many.push_back(AccountId{static_cast<std::int64_t>(i)});
  world_.database->write([&](storage::Tx& tx) {
    storage::lock_disabled_accounts(tx);
    storage::put_disabled_accounts(tx, many);
  });
  EXPECT_EQ(await(here_.disable(world_.scheduler, world_.account, "")).error().code, "VALIDATION_FAILED");
  EXPECT_TRUE(await(here_.holds(world_.scheduler, AccountId{10'000})).value());
  EXPECT_FALSE(disabled(here_));
}

TEST_F(DisabledAccountsTest, ItsStoresAreInactiveAsLongAsItIsDisabled) {
  IntegrationDirectory directory{world_.async_db, world_.cipher, world_.database.clock, &here_};
  const auto active = [&] {
    return await(directory.find(world_.scheduler, world_.integration)).value()->rules.active;
  };
  EXPECT_TRUE(active());
  ASSERT_TRUE(await(here_.disable(world_.scheduler, world_.account, "")));
  EXPECT_FALSE(active());
  const auto copy = await(directory.find(world_.scheduler, world_.integration)).value();
  EXPECT_FALSE(copy->secrets(world_.database.clock.now()).front().empty())
      << "its signatures are still checked";
  ASSERT_TRUE(await(here_.enable(world_.scheduler, world_.account)));
  EXPECT_TRUE(active());
}

}  // namespace
}  // namespace presetbridge::services
