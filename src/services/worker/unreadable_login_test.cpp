// A stored login that cannot be opened (spec 3.6, 5.4): the merchant's to save again, never the platform's.
#include <gtest/gtest.h>

#include "domain/resolution.h"
#include "services/vault/vault_testing.h"

namespace presetbridge::services {
namespace {

using storage::CredentialsStatus;
using testing::VaultOfWorld;
using testing::World;

class UnreadableLogin : public ::testing::Test {
 protected:
  UnreadableLogin() { vault_.save("m-1"); }
  // A bit of the record changes while nothing is cached.
  void spoil_record() {
    world_.sessions->invalidate(world_.account);
    world_.agent.unreadable = {world_.account};
  }
  void expect_reported(DeliveryId id) {
    EXPECT_EQ(world_.status(id), "failed credentials_missing");
    EXPECT_EQ(world_.delivery(id).message, domain::kUnreadableLogin);
  }
  void expect_standing() {
    const auto view = vault_.get();
    EXPECT_EQ(view.status, CredentialsStatus::invalid);
    EXPECT_TRUE(view.unreadable);
    EXPECT_EQ(view.masked_email, "m…@example.com");
  }

  World world_;
  VaultOfWorld vault_{world_};
};

TEST_F(UnreadableLogin, FailsWhatNeedsItInItsOwnWordsAndIsNotTriedForEachOrder) {
  world_.cloud.auto_accept = false;
  const auto waiting = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.status(waiting), "waiting_for_friendship");
  spoil_record();
  const int logins = world_.agent.logins;
  const auto before = world_.queue();
  const auto worked_on = world_.deliver(world_.order("2", "Bob", {"sku-1"}));
  const auto known = world_.deliver(world_.order("3", "Cid", {"sku-1"}));
  for (const auto id : {waiting, worked_on, known}) expect_reported(id);
  expect_standing();
  world_.settle(std::chrono::hours{2});
  EXPECT_EQ(world_.agent.logins, logins + 1);
  expect_standing();
  EXPECT_EQ(world_.queue().trouble, before.trouble) << "no trouble of the platform";
  EXPECT_EQ(world_.cloud.count("find_user"), 1);
}

TEST_F(UnreadableLogin, ASweepMeetsItToo) {
  world_.cloud.auto_accept = false;
  const auto waiting = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  spoil_record();
  world_.settle(std::chrono::minutes{2});
  expect_standing();
  expect_reported(waiting);
}

TEST_F(UnreadableLogin, AListOfPresetsMeetsItToo) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.status(id), "completed");
  spoil_record();
  const auto files = world_.await(vault_.stored.files_of_login(world_.scheduler, world_.account,
                                                               world_.standing(world_.account).version));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, "CREDENTIALS_MISSING");
  expect_standing();
}

TEST_F(UnreadableLogin, ARetryOfItsDeliveriesFailsForTheSame) {
  spoil_record();
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  world_.await(world_.actions.retry(world_.scheduler, world_.merchant(), id, {})).value();
  world_.settle();
  expect_reported(id);
}

TEST_F(UnreadableLogin, WhatIsToBeTakenBackWaitsForALogin) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  spoil_record();
  world_.await(world_.actions.revoke(world_.scheduler, world_.merchant(), id)).value();
  world_.settle(std::chrono::hours{2});
  expect_standing();
  EXPECT_EQ(world_.items(id).at(0).status, domain::ItemStatus::revoking);
  world_.agent.unreadable.clear();
  vault_.save("m-1");
  world_.settle(std::chrono::minutes{20});
  EXPECT_EQ(world_.items(id).at(0).status, domain::ItemStatus::revoked);
}

TEST_F(UnreadableLogin, SavedAgainItResumesWhatItStopped) {
  spoil_record();
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  expect_reported(id);
  world_.agent.unreadable.clear();
  const auto saved = vault_.save("m-1");
  EXPECT_EQ(saved.status, CredentialsStatus::valid);
  EXPECT_FALSE(saved.unreadable);
  EXPECT_EQ(world_.status(id), "completed");
}

TEST_F(UnreadableLogin, WhenItOpensAgainTheNextCheckResumesWhatItStopped) {
  spoil_record();
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(vault_.check_due(), 0);
  for (int round = 0; round < 3; ++round) {
    world_.settle(std::chrono::minutes{15});
    EXPECT_EQ(vault_.check_due(), 1);
    expect_standing();
    expect_reported(id);
    EXPECT_EQ(vault_.check_due(), 0);
  }
  world_.agent.unreadable.clear();  // the key file is mended
  world_.agent.away = true;
  world_.settle(std::chrono::minutes{15});
  EXPECT_EQ(vault_.check_due(), 1);
  expect_standing();
  world_.agent.away = false;
  world_.settle(std::chrono::hours{1});
  EXPECT_EQ(vault_.check_due(), 1);
  EXPECT_EQ(vault_.get().status, CredentialsStatus::valid);
  EXPECT_FALSE(vault_.get().unreadable);
  EXPECT_EQ(world_.status(id), "completed");
  world_.settle(std::chrono::hours{3});
  EXPECT_EQ(vault_.check_due(), 0);
}

TEST_F(UnreadableLogin, ValidatingSaysSoAndBringsItBackWhenItOpens) {
  spoil_record();
  const auto refused = vault_.validate();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "CONFLICT");
  expect_standing();
  world_.agent.unreadable.clear();
  const auto view = vault_.validate();
  ASSERT_TRUE(view);
  EXPECT_EQ(view->status, CredentialsStatus::valid);
}

TEST_F(UnreadableLogin, WhenThePlatformRefusesWhatOpensAgainItIsRefused) {
  spoil_record();
  ASSERT_FALSE(vault_.validate());
  world_.agent.unreadable.clear();
  world_.agent.refuse = true;
  const auto view = vault_.validate();
  ASSERT_TRUE(view);
  EXPECT_EQ(view->status, CredentialsStatus::invalid);
  EXPECT_FALSE(view->unreadable);
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.status(id), "failed credentials_invalid");
}

TEST_F(UnreadableLogin, OneThatWasNeverCheckedIsFoundByItsCheck) {
  world_.agent.away = true;
  EXPECT_EQ(vault_.save("m-1").status, CredentialsStatus::unchecked);
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(world_.status(id), "queued");
  spoil_record();
  world_.settle(std::chrono::minutes{2});
  EXPECT_EQ(vault_.check_due(), 1);
  expect_standing();
  expect_reported(id);
}

TEST_F(UnreadableLogin, WhatAProgramOfBeforeWritesOfItCounts) {
  spoil_record();
  ASSERT_FALSE(vault_.validate());
  expect_standing();
  // It does not know of the column: it saves, and later has another login refused.
  world_.write([&](storage::Tx& tx) {
    tx.exec(
        {"UPDATE accounts SET credentials_version = credentials_version + 1, credentials_status = 'invalid' "
         "WHERE id = $1"},
        world_.account);
  });
  EXPECT_FALSE(vault_.get().unreadable);
}

}  // namespace
}  // namespace presetbridge::services
