// An account that is deleted after a request of it was admitted gets nothing new.
#include "services/stores/integrations.h"
#include "services/testing.h"
#include "services/webhooks/subscriptions.h"

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

}  // namespace
}  // namespace presetbridge::services
