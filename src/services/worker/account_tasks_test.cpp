// Account tasks over the deliveries of an account (spec 3.5, 3.6): they make progress, they
// end, and each batch reads the cause again.
#include "services/worker/account_tasks.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "services/testing.h"
#include "services/worker/account_task_starts.h"
#include "services/worker/account_trouble.h"

namespace presetbridge::services {
namespace {

using storage::AccountTaskKind;
using testing::World;

std::vector<storage::AccountTask> tasks(World& world) {
  return world.write([](storage::Tx& tx) { return storage::find_account_tasks(tx, 10); });
}
void do_next(World& world) {
  world.write([&](storage::Tx& tx) {
    do_account_task_batch(tx, world.changes, storage::find_account_tasks(tx, 1).at(0), {});
  });
}

TEST(AccountTasks, FailingWhatAnOutageLeftGetsOnWhileProbesFailAndEnds) {
  World world;
  const int many = kAccountTaskBatch + 20;
  world.hold_queue();
  std::vector<DeliveryId> ids;
  for (int i = 0; i < many; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  auto account = world.queue();
  const auto long_ago = world.database.clock.now() - std::chrono::hours{73};
  account.trouble = domain::encode(domain::AccountTrouble{
      .probe_at = world.database.clock.now(),  // of those, each minute
      .calls = {{.call = domain::CallKind::find_user, .outage_since = long_ago, .deliveries = {ids[0]}}}});
  world.write([&](storage::Tx& tx) { update_cloud_account(tx, account); });
  const auto probe = [&] {
    world.write([&](storage::Tx& tx) {
      auto customer = lock_customer(tx, find_delivery(tx, ids[0])->customer).value();
      note_failure(tx, customer, domain::CallKind::find_user, ids[0], 1);
    });
  };

  probe();
  do_next(world);
  probe();
  ASSERT_EQ(tasks(world).size(), 1u);
  EXPECT_EQ(tasks(world)[0].done_to, ids[kAccountTaskBatch - 1]) << "a probe does not begin it again";
  do_next(world);
  EXPECT_TRUE(tasks(world).empty());
  for (const auto id : ids) EXPECT_EQ(world.status(id), "failed cloud_unavailable");
  probe();
  EXPECT_TRUE(tasks(world).empty()) << "nothing is left to fail";

  const auto late = world.accept(world.order("late", "Ann", {"sku-1"})).delivery.value();
  probe();
  while (!tasks(world).empty()) do_next(world);
  EXPECT_EQ(world.status(late), "failed cloud_unavailable");
}

TEST(AccountTasks, ABatchThatAnotherNodeHasDoneIsNotWorkedOnAndTheNextIsForTheNextRound) {
  World world;
  world.hold_queue();
  const auto ann = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto bob = world.accept(world.order("2", "Bob", {"sku-1"})).delivery.value();
  world.write([&](storage::Tx& tx) {
    auto standing = find_standing(tx, world.account).value();
    standing.status = storage::CredentialsStatus::invalid;
    update_standing(tx, world.account, standing);
    add_account_task(tx, world.account, AccountTaskKind::fail_invalid_credentials);
  });
  const auto found = tasks(world).at(0);
  world.write([&](storage::Tx& tx) {
    storage::advance_account_task(tx, {.account = found.account, .kind = found.kind, .done_to = ann});
  });
  const auto progress =
      world.write([&](storage::Tx& tx) { return do_account_task_batch(tx, world.changes, found, {}); });
  EXPECT_EQ(progress, AccountTaskProgress::under_way);
  EXPECT_EQ(world.status(ann), "queued");
  EXPECT_EQ(world.status(bob), "queued");
  do_next(world);
  EXPECT_EQ(world.status(ann), "queued") << "the other node's";
  EXPECT_EQ(world.status(bob), "failed credentials_invalid");
}

TEST(AccountTasks, ResumingForALoginThatIsRefusedAgainEndsAndResumesNothing) {
  World world;
  world.agent.refuse = true;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "failed credentials_invalid");
  const auto before = world.delivery(id).sequence;
  world.write(
      [&](storage::Tx& tx) { add_account_task(tx, world.account, AccountTaskKind::resume_credentials); });
  for (int i = 0; i < 5 && !tasks(world).empty(); ++i) do_next(world);
  EXPECT_TRUE(tasks(world).empty());
  EXPECT_EQ(world.delivery(id).sequence, before);
}

TEST(AccountTasks, ADeliveryThatCannotBeReadIsLeftOutAndDoneOnceItCanBe) {
  World world(World::attentive(), 0);
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob", "Cid"})
    ids.push_back(world.deliver(world.order(name, name, {"sku-1"})));
  for (const auto id : ids) ASSERT_EQ(world.status(id), "failed insufficient_credits");
  world.spoil(ids[0]);
  world.grant(10);
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.status(ids[1]), "completed");
  EXPECT_EQ(world.status(ids[2]), "completed");
  EXPECT_TRUE(world.log.text.contains("account=" + to_string(world.account) +
                                      " accountTask=resume_credits delivery=" + to_string(ids[0])))
      << world.log.text;
  EXPECT_EQ(tasks(world).size(), 1u) << "it waits for the one that was left out";
  world.mend(ids[0]);
  world.settle(std::chrono::minutes{7});
  EXPECT_EQ(world.status(ids[0]), "completed");
  EXPECT_TRUE(tasks(world).empty());
}

TEST(AccountTasks, WhatCannotBeReadIsLeftOutOfATaskWithoutACursorToo) {
  World world;
  world.hold_queue();
  std::vector<DeliveryId> ids;
  for (const char* name : {"Ann", "Bob"})
    ids.push_back(world.accept(world.order(name, name, {"sku-1"})).delivery.value());
  world.write([&](storage::Tx& tx) {
    DeliverySet set(tx, world.changes);
    for (const auto id : ids)
      set.apply(*set.delivery(id),
                {.cause = domain::Cause::known_cause, .code = domain::ResolutionCode::credentials_invalid});
    set.save();
    add_account_task(tx, world.account, AccountTaskKind::resume_credentials);
  });
  world.spoil(ids[0]);
  world.settle(std::chrono::minutes{3});
  EXPECT_EQ(world.status(ids[1]), "completed");
  world.mend(ids[0]);
  world.settle(std::chrono::minutes{7});
  EXPECT_EQ(world.status(ids[0]), "completed");
  EXPECT_TRUE(tasks(world).empty());
}

TEST(AccountTasks, ATaskAtFaultKeepsThoseOfOtherAccountsNotWaiting) {
  World world;
  const auto other = world.add_tenant("m-2", 0);
  const auto theirs = world.accept(other.integration, world.order("1", "Ann", {"sku-1"})).delivery.value();
  world.drop_check("accounts", "credentials_status");
  world.write([&](storage::Tx& tx) {
    add_account_task(tx, world.account, AccountTaskKind::reroute);
    tx.exec({"UPDATE accounts SET credentials_status = 'odd' WHERE id = $1"}, world.account);
    update_balance(tx, other.account, domain::grant(*lock_balance(tx, other.account), 5).value());
    add_account_task(tx, other.account, AccountTaskKind::resume_credits);
  });
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(world.status(theirs), "completed");
  const auto line = world.log.text.find("account=" + to_string(world.account) + " accountTask=reroute");
  ASSERT_NE(line, std::string::npos) << world.log.text;
  EXPECT_EQ(world.log.text.find("accountTask=reroute", line + 60), std::string::npos) << "said once";
}

TEST(AccountTasks, WhatFailedOnTheFilesOfAnotherCloudUserResumesOnceTheFormerIsBack) {
  World world(World::attentive());
  world.cloud.unknown_files.insert("file-1");
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world.status(id), "failed preset_not_found");
  const auto resume = [&] {
    world.write(
        [&](storage::Tx& tx) { add_account_task(tx, world.account, AccountTaskKind::resume_mappings); });
    world.settle(std::chrono::minutes{1});
  };
  const auto before = world.delivery(id).sequence;
  resume();
  EXPECT_EQ(world.delivery(id).sequence, before) << "nothing has changed for it";
  world.cloud.unknown_files.clear();
  world.write([&](storage::Tx& tx) {
    auto row = *lock_delivery(tx, id);
    row.cloud_account = find_or_insert_cloud_account(tx, "other", "other", world.ids.make<CloudAccountId>());
    update_delivery(tx, row);
  });
  resume();
  EXPECT_EQ(world.status(id), "completed");
}

TEST(AccountTasks, ALoginSavedBeforeItsRefusalIsSpreadKeepsTheDeliveriesGoing) {
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
    put_credentials(tx, record, std::vector<std::byte>(8));
  });
  ASSERT_EQ(tasks(world).size(), 1u);
  do_next(world);
  EXPECT_TRUE(tasks(world).empty());
  EXPECT_EQ(world.status(id), "queued");
  world.settle();
  EXPECT_EQ(world.status(id), "completed");
}

// Another node accepts an order while the account's login becomes that of another cloud user.
TEST(AccountTasks, WaitForTransactionsThatMayHaveReadWhatWasBefore) {
  World world;
  if (world.database->engine() == "sqlite") return;  // one transaction writes at a time
  static constexpr storage::Sql kHold{"SELECT id FROM customers WHERE id = $1 <for_update>"};
  static constexpr storage::Sql kWaiting{
      "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"};
  const auto customer = world.delivery(world.deliver(world.order("1", "Ann", {"sku-1"}))).customer;

  std::promise<void> held;
  std::promise<void> let_go;
  std::jthread holder([&] {
    world.database->write([&](storage::Tx& tx) {
      tx.query(kHold, customer, [](const storage::Row&) {});
      held.set_value();
      let_go.get_future().wait_for(std::chrono::seconds{30});
    });
  });
  held.get_future().wait();
  std::optional<DeliveryId> accepted;
  std::jthread other_node([&] {
    testing::VirtualScheduler scheduler{world.database.clock};
    storage::AsyncDatabase async_db{*world.database, world.log, {.inline_execution = true}};
    IdSource ids{world.database.clock, 2};
    DeliveryChanges changes{ids, world.random};
    IntegrationDirectory directory{async_db, world.cipher, world.database.clock, nullptr};
    Intake intake{async_db, changes, world.database.clock, [] {}};
    spawn(
        [](auto& w, auto& on, auto& stores, auto& in) -> Task<Expected<Accepted>> {
          const auto store = co_await stores.find(on, w.integration);
          co_return co_await in.accept(on, {store.value(), w.order("2", "Ann", {"sku-2"}), {}, {}});
        }(world, scheduler, directory, intake),
        [&](auto outcome) { accepted = outcome.value->value().delivery; });
    scheduler.run();
  });
  const auto waiting = [&] {
    return world.write([](storage::Tx& tx) {
      return tx.one(kWaiting, [](const storage::Row& r) { return r.int64(0); }).value();
    });
  };
  for (int polls = 0; waiting() == 0; ++polls) ASSERT_LT(polls, 20'000) << "nobody waits";

  const auto moved = world.write([&](storage::Tx& tx) {
    const auto to = find_or_insert_cloud_account(tx, "m-2", "merchant", CloudAccountId{world.ids.next()});
    update_standing(tx, world.account, {storage::CredentialsStatus::valid, 2, to});
    auto record = *find_credentials(tx, world.account);
    record.version = 2;
    put_credentials(tx, record, std::vector<std::byte>(8));
    add_account_task(tx, world.account, AccountTaskKind::reroute);
    return to;
  });
  world.agent.user_ids[world.account] = "m-2";
  world.worker->wake();
  world.settle(Millis{500});
  EXPECT_EQ(tasks(world).size(), 1u) << "what it is for is not all there";
  let_go.set_value();
  holder.join();
  other_node.join();
  world.settle(std::chrono::minutes{2});
  EXPECT_TRUE(tasks(world).empty());
  EXPECT_EQ(world.delivery(accepted.value()).cloud_account, moved);
  EXPECT_EQ(world.status(accepted.value()), "completed");
}

TEST(AccountTasks, OneWaitsForThoseAloneThatWereThereWhenItWasFirstSeen) {
  using namespace std::chrono_literals;
  const storage::AccountTask task{AccountId{1}, AccountTaskKind::reroute, {}, 7};
  AccountTaskStarts starts;
  const auto held = [&](Timestamp now, storage::AccountTask one, const std::set<std::string>& writers) {
    std::vector found{one};
    starts.hold_back(found, writers, now);
    EXPECT_EQ(starts.held(), found.empty() ? 1 : 0);
    return found.empty();
  };
  const Timestamp begin = from_unix_ms(1'000'000);
  EXPECT_FALSE(held(begin, {AccountId{2}, AccountTaskKind::reroute, {}, 7}, {})) << "nobody writes";
  EXPECT_EQ(starts.waited(begin), std::nullopt);
  EXPECT_TRUE(held(begin, task, {"3/1", "4/1"}));
  EXPECT_TRUE(held(begin + 1s, task, {"4/1", "5/1"})) << "one is left";
  EXPECT_EQ(starts.waited(begin + 1s), Millis{1s});
  EXPECT_FALSE(held(begin + 2s, task, {"5/1", "6/1"})) << "those began later";
  EXPECT_FALSE(held(begin + 3s, task, {"4/1"})) << "and have no part in it";
  auto again = task;
  again.generation = 8;
  EXPECT_TRUE(held(begin + 4s, again, {"7/1"})) << "another cause";
  again.done_to = DeliveryId{5};
  again.generation = 9;
  EXPECT_FALSE(held(begin + 5s, again, {"7/1"})) << "begun by another node";
}

}  // namespace
}  // namespace presetbridge::services
