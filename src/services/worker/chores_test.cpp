// Chores over the deliveries of an account (spec 3.5, 3.6): they get on, they end, and they look again at
// their cause.
#include "services/worker/chores.h"

#include <gtest/gtest.h>

#include "domain/account_pause.h"
#include "services/testing.h"
#include "services/worker/account_trouble.h"

namespace presetbridge::services {
namespace {

using storage::ChoreKind;
using testing::World;

std::vector<storage::Chore> chores(World& world) {
  return world.write([](storage::Tx& tx) { return storage::find_chores(tx, 10); });
}
void do_next(World& world) {
  world.write([&](storage::Tx& tx) { do_chore(tx, world.changes, storage::find_chores(tx, 1).at(0)); });
}

TEST(Chores, FailingWhatAnOutageLeftGetsOnWhileProbesFailAndEnds) {
  World world;
  const int many = kChorePiece + 20;
  world.hold_queue();
  std::vector<DeliveryId> ids;
  for (int i = 0; i < many; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  auto account = world.queue();
  const auto long_ago = world.database.clock.now() - std::chrono::hours{73};
  account.pause = domain::encode(domain::AccountPause{
      .reason = domain::PauseReason::outage, .until = long_ago, .since = long_ago, .failing = {ids[0]}});
  world.write([&](storage::Tx& tx) { update_cloud_account(tx, account); });
  const auto probe = [&] {
    world.write([&](storage::Tx& tx) { pause_after_failure(tx, world.cloud_account, ids[0]); });
  };

  probe();
  do_next(world);
  probe();
  ASSERT_EQ(chores(world).size(), 1u);
  EXPECT_EQ(chores(world)[0].done_to, ids[kChorePiece - 1]) << "a probe does not begin it again";
  do_next(world);
  EXPECT_TRUE(chores(world).empty());
  for (const auto id : ids) EXPECT_EQ(world.status(id), "failed cloud_unavailable");
  probe();
  EXPECT_TRUE(chores(world).empty()) << "nothing is left to fail";

  const auto late = world.accept(world.order("late", "Ann", {"sku-1"})).delivery.value();
  probe();
  while (!chores(world).empty()) do_next(world);
  EXPECT_EQ(world.status(late), "failed cloud_unavailable");
}

TEST(Chores, ResumingForALoginThatIsRefusedAgainEndsAndResumesNothing) {
  World world;
  world.agent.refuse = true;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "failed credentials_invalid");
  const auto told = world.delivery(id).sequence;
  world.write([&](storage::Tx& tx) { add_chore(tx, world.account, ChoreKind::resume_credentials); });
  for (int i = 0; i < 5 && !chores(world).empty(); ++i) do_next(world);
  EXPECT_TRUE(chores(world).empty());
  EXPECT_EQ(world.delivery(id).sequence, told);
}

TEST(Chores, ALoginSavedBeforeItsRefusalIsSpreadKeepsTheDeliveriesGoing) {
  World world;
  world.hold_queue();
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  world.write([&](storage::Tx& tx) {
    ASSERT_EQ(refuse_login(tx, world.account, 1), LoginVerdict::refused);
    auto standing = *lock_standing(tx, world.account);
    standing.status = storage::CredentialsStatus::valid;
    standing.version = 2;
    update_standing(tx, world.account, standing);
    auto record = *find_credentials(tx, world.account);
    record.version = 2;
    put_credentials(tx, record);
  });
  ASSERT_EQ(chores(world).size(), 1u);
  do_next(world);
  EXPECT_TRUE(chores(world).empty());
  EXPECT_EQ(world.status(id), "queued");
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

}  // namespace
}  // namespace presetbridge::services
