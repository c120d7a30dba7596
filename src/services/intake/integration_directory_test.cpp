#include "services/intake/integration_directory.h"

#include <gtest/gtest.h>

#include "services/testing.h"
#include "storage/integration_store.h"

namespace presetbridge::services {
namespace {

using testing::World;

class DirectoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<const IntegrationSnapshot> find(IntegrationId id,
                                                  Millis max_age = IntegrationDirectory::kMaxAge) {
    return world.await(directory.find(world.scheduler, id, max_age)).value();
  }
  // As another node does it.
  void set_secret(const std::string& secret) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      row.encrypted_secret = world.cipher.encrypt({"integrations.secret", world.integration.value}, secret);
      update_integration(tx, row);
    });
  }

  World world;
  IntegrationDirectory directory{world.commits, world.cipher, world.database.clock, 3};
};

TEST_F(DirectoryTest, AStoreThatHasChangedIsStillRememberedAndReadAnew) {
  ASSERT_EQ(find(world.integration)->secret, "secret");
  set_secret("another");
  directory.forget(world.integration);
  EXPECT_TRUE(directory.remembers(world.integration)) << "a spent network's orders for it are still heard";
  EXPECT_EQ(find(world.integration)->secret, "another");
  set_secret("third");
  EXPECT_EQ(find(world.integration)->secret, "another");
}

TEST_F(DirectoryTest, AnArchivedStoreIsNotThere) {
  ASSERT_TRUE(find(world.integration));
  world.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, world.integration);
    row.archived_at = tx.now();
    update_integration(tx, row);
  });
  directory.forget(world.integration);
  EXPECT_FALSE(find(world.integration));
  EXPECT_FALSE(directory.remembers(world.integration));
}

TEST_F(DirectoryTest, ADoubtedCopyIsReadAgainButNotForEachDoubt) {
  const auto first = find(world.integration);
  set_secret("another");
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), first) << "it was read just now";
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  EXPECT_EQ(find(world.integration), first);
  const auto newer = find(world.integration, IntegrationDirectory::kDoubted);
  EXPECT_EQ(newer->secret, "another");
  set_secret("third");
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), newer)
      << "a hostile sender costs no more";
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  const auto third = find(world.integration, IntegrationDirectory::kDoubted);
  EXPECT_EQ(third->secret, "third");
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), third) << "nothing has changed";
}

TEST_F(DirectoryTest, MadeUpIdsTakeNoKnownStoresPlace) {
  ASSERT_TRUE(find(world.integration));
  for (std::int64_t id = 1; id <= 20; ++id) EXPECT_FALSE(find(IntegrationId{id}));
  EXPECT_TRUE(directory.remembers(world.integration));
}

}  // namespace
}  // namespace presetbridge::services
