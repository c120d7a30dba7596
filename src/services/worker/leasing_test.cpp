// Which jobs start, and when (spec 3.4).
#include "services/worker/leasing.h"

#include <gtest/gtest.h>

#include "services/testing.h"
#include "services/worker/job_step.h"

namespace presetbridge::services {
namespace {

using testing::World;
using Fate = testing::FakeCloud::Fate;

TEST(Leasing, HoldsTheQueueLimitOverEveryRollingMinuteAndAcrossARestart) {
  const WorkerOptions limited{.jobs_per_minute = 5, .poll = std::chrono::minutes{1}};
  World world(limited);
  std::vector<DeliveryId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(
        world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"})).delivery.value());
  }
  world.settle(std::chrono::minutes{7});
  world.crash(limited);
  world.settle(std::chrono::minutes{30});
  for (const auto id : ids) EXPECT_EQ(world.status(id), "completed");
  // Each of these jobs begins with find_user: their times are the jobs' starts.
  std::vector<Timestamp> starts;
  for (std::size_t i = 0; i < world.cloud.calls.size(); ++i) {
    if (world.cloud.calls[i] == "find_user") starts.push_back(world.cloud.call_times[i]);
  }
  ASSERT_EQ(starts.size(), 100u);
  for (std::size_t i = 5; i < starts.size(); ++i) {
    EXPECT_GT(starts[i] - starts[i - 5], std::chrono::minutes{1} - Millis{1})
        << "six jobs within a minute at " << i;
  }
}

TEST(Leasing, AnAccountAtItsLimitDoesNotSlowAnother) {
  const WorkerOptions limited{.jobs_per_minute = 5, .poll = std::chrono::minutes{1}};
  World world(limited);
  const auto other = world.add_tenant("m-2");
  for (int i = 0; i < 100; ++i) {
    world.accept(world.order(std::to_string(i), "user" + std::to_string(i), {"sku-1"}));
  }
  std::vector<DeliveryId> theirs;
  for (int i = 0; i < 5; ++i) {
    theirs.push_back(
        world
            .accept(other.integration, world.order(std::to_string(i), "their" + std::to_string(i), {"sku-1"}))
            .delivery.value());
  }
  world.settle(Millis{1'000});
  for (const auto id : theirs) EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.count("find_user"), 10);
}

// ---------------------------------------------------------------- the whole service's limit

TEST(Leasing, HoldsTheServicesLimitOverAllAccountsAndARestartAndSharesItFairly) {
  const WorkerOptions capped{
      .jobs_per_minute = 5, .jobs_per_minute_total = 6, .poll = std::chrono::minutes{1}};
  World world(capped);
  const std::vector<World::Tenant> others = {world.add_tenant("m-2"), world.add_tenant("m-3")};
  std::map<std::string, DeliveryId> ids;
  // The first account has work for an hour when the others get a little.
  for (int i = 0; i < 60; ++i) {
    const auto name = "user" + std::to_string(i);
    ids[name] = world.accept(world.order(name, name, {"sku-1"})).delivery.value();
  }
  world.settle(std::chrono::seconds{30});
  for (std::size_t t = 0; t < others.size(); ++t) {
    for (int i = 0; i < 4; ++i) {
      const auto name = "their" + std::to_string(t) + std::to_string(i);
      ids[name] = world.accept(others[t].integration, world.order(name, name, {"sku-1"})).delivery.value();
    }
  }
  world.settle(std::chrono::seconds{150});
  for (const auto& [name, id] : ids) {
    if (name.starts_with("their")) EXPECT_EQ(world.status(id), "completed") << name;
  }
  world.crash(capped);
  world.settle(std::chrono::minutes{20});
  for (const auto& [name, id] : ids) EXPECT_EQ(world.status(id), "completed") << name;
  std::vector<Timestamp> starts;
  for (std::size_t i = 0; i < world.cloud.calls.size(); ++i) {
    if (world.cloud.calls[i] == "find_user") starts.push_back(world.cloud.call_times[i]);
  }
  ASSERT_EQ(starts.size(), ids.size());
  for (std::size_t i = 6; i < starts.size(); ++i)
    EXPECT_GE(starts[i] - starts[i - 6], std::chrono::minutes{1}) << "seven jobs within a minute at " << i;
}

TEST(Leasing, AServiceLogThatCannotBeReadClosesAllQueuesForAMinute) {
  World world(WorkerOptions{.jobs_per_minute_total = 6, .poll = std::chrono::minutes{1}});
  world.deliver(world.order("0", "Bob", {"sku-1"}));
  const auto calls = world.cloud.calls.size();
  world.write(
      [](storage::Tx& tx) { put_service_window(tx, "jobs", std::array{std::byte{1}, std::byte{2}}); });
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  world.settle(std::chrono::seconds{59});
  EXPECT_EQ(world.cloud.calls.size(), calls);
  EXPECT_TRUE(world.log.text.contains("record=service_windows")) << world.log.text;
  world.settle(std::chrono::seconds{3});
  EXPECT_EQ(world.status(id), "completed");
}

// ---------------------------------------------------------------- what cannot be read

CustomerId customer_of(World& world, DeliveryId id) {
  return world.write([&](storage::Tx& tx) {
    return tx
        .one({"SELECT customer_id FROM deliveries WHERE id = $1"}, id,
             [](const storage::Row& r) { return r.id<CustomerId>(0); })
        .value();
  });
}

int mentions(const World& world, std::string_view text) {
  int times = 0;
  for (auto at = world.log.text.find(text); at != std::string::npos; at = world.log.text.find(text, at + 1))
    ++times;
  return times;
}

TEST(Leasing, ADeliveryThatCannotBeReadKeepsNobodyElseWaiting) {
  World world(World::attentive());
  const auto other = world.add_tenant("m-2");
  world.hold_queue();
  const auto ann = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto bob = world.accept(world.order("2", "Bob", {"sku-1"})).delivery.value();
  const auto cid = world.accept(other.integration, world.order("3", "Cid", {"sku-1"})).delivery.value();
  const auto customer = customer_of(world, ann);
  world.spoil(ann);
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(world.status(bob), "completed");
  EXPECT_EQ(world.status(cid), "completed");
  EXPECT_EQ(mentions(world, "customer=" + to_string(customer)), 1) << world.log.text;
  world.mend(ann);
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Leasing, ACustomerWhoseAccountWasNotWokenIsFound) {
  World world(World::attentive());
  world.hold_queue();
  const auto ann = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  world.write([](storage::Tx& tx) {
    tx.exec({"UPDATE cloud_accounts SET ready_at = NULL, blocked_until = $1"}, tx.now());
  });
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Leasing, ACustomerThatCannotBeReadKeepsOtherAccountsNotWaiting) {
  World world;
  const auto other = world.add_tenant("m-2");
  world.hold_queue();
  const auto ann = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto cid = world.accept(other.integration, world.order("3", "Cid", {"sku-1"})).delivery.value();
  world.drop_check("customers", "friendship");
  world.write([](storage::Tx& tx) {
    tx.exec({"UPDATE customers SET friendship = 'foes' WHERE username_key = 'Ann'"});
  });
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(world.status(cid), "completed");
  EXPECT_EQ(mentions(world, "left alone"), 1) << world.log.text;
  EXPECT_TRUE(world.log.text.contains("cloudAccount=" + to_string(world.cloud_account)));
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE customers SET friendship = 'unknown'"}); });
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Leasing, ALoginThatCannotBeReadKeepsOtherAccountsNotWaiting) {
  World world;
  const auto other = world.add_tenant("m-2");
  world.hold_queue();
  const auto ann = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  const auto cid = world.accept(other.integration, world.order("3", "Cid", {"sku-1"})).delivery.value();
  world.drop_check("accounts", "credentials_status");
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE accounts SET credentials_status = 'odd' WHERE id = $1"}, world.account);
  });
  world.settle(std::chrono::minutes{4});
  EXPECT_EQ(world.status(cid), "completed");
  EXPECT_EQ(mentions(world, "left alone"), 1) << world.log.text;
  world.write([](storage::Tx& tx) { tx.exec({"UPDATE accounts SET credentials_status = 'valid'"}); });
  world.settle(std::chrono::minutes{7});
  EXPECT_EQ(world.status(ann), "completed");
}

TEST(Leasing, ADeliveryThatCannotBeReadKeepsNoOtherFromBeingTakenOver) {
  World world(World::attentive());
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold_done : Fate::answer; };
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto bob = world.deliver(world.order("2", "Bob", {"sku-1"}));
  world.spoil(ann);
  world.crash();
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(bob), "completed");
  EXPECT_EQ(mentions(world, "left alone"), 1) << world.log.text;
  world.mend(ann);
  world.settle(std::chrono::minutes{7});
  EXPECT_EQ(world.status(ann), "completed");
  world.cloud.release();
  world.settle();
  expect_books_balance(world);
}

TEST(Leasing, ACustomerThatCannotBeReadKeepsNoOtherFromBeingTakenOver) {
  World world(World::attentive());
  world.cloud.before = [](auto& call, auto&) { return call == "share" ? Fate::hold_done : Fate::answer; };
  const auto ann = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto bob = world.deliver(world.order("2", "Bob", {"sku-1"}));
  const auto customer = customer_of(world, ann);
  world.drop_check("customers", "friendship");
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE customers SET friendship = 'foes' WHERE id = $1"}, customer);
  });
  world.crash();
  world.cloud.before = nullptr;
  world.settle(std::chrono::minutes{2});
  EXPECT_EQ(world.status(bob), "completed");
  EXPECT_EQ(mentions(world, "customer=" + to_string(customer)), 1) << world.log.text;
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE customers SET friendship = 'friends' WHERE id = $1"}, customer);
  });
  world.settle(std::chrono::minutes{7});
  EXPECT_EQ(world.status(ann), "completed");
  world.cloud.release();
  world.settle();
  expect_books_balance(world);
}

// Nobody knows what has started, so nothing may start for a minute.
void expect_closed_for_a_minute(World& world, DeliveryId id, const std::string& record) {
  world.settle(std::chrono::seconds{60});
  EXPECT_TRUE(world.cloud.calls.empty());
  EXPECT_TRUE(world.log.text.contains("cloudAccount=" + to_string(world.cloud_account) + " record=" + record))
      << world.log.text;
  EXPECT_EQ(mentions(world, "could not be read"), 1);
  world.settle(std::chrono::seconds{2});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(mentions(world, "could not be read"), 1);
}

TEST(Leasing, ALogOfStartsThatCannotBeReadClosesTheQueueForAMinute) {
  World world(WorkerOptions{.jobs_per_minute = 5, .poll = std::chrono::minutes{1}});
  world.hold_queue();
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  auto account = world.queue();
  account.start_log = {std::byte{1}, std::byte{2}};
  world.write([&](storage::Tx& tx) { update_cloud_account(tx, account); });
  expect_closed_for_a_minute(world, id, "start_log");
}

TEST(Leasing, ATroubleThatCannotBeReadClosesTheQueueForAMinute) {
  World world;
  world.hold_queue();
  const auto id = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
  auto account = world.queue();
  account.trouble = "as you like it";
  world.write([&](storage::Tx& tx) { update_cloud_account(tx, account); });
  expect_closed_for_a_minute(world, id, "trouble");
}

// ---------------------------------------------------------------- leases

// A job that was leased and has not made its first step.
struct LeasedJob {
  explicit LeasedJob(World& w) : world(w) {
    // This test is the worker.
    world.stop_worker();
    delivery = world.accept(world.order("1", "Ann", {"sku-1"})).delivery.value();
    job = world.write(
        [&](storage::Tx& tx) { return lease_jobs(tx, options, {}, 10, Pace::together).jobs.at(0); });
  }
  ~LeasedJob() { world.start_worker(World::unlimited()); }
  JobCall begin() {
    return world.write([&](storage::Tx& tx) {
      JobSteps steps(world.changes, world.random, options, world.cloud.call_timeout());
      const JobAnswer answer{job, {}};
      JobCall next;
      steps.advance(tx, std::span(&answer, 1), std::span(&next, 1));
      return next;
    });
  }
  storage::CustomerRow customer() {
    return world.write([&](storage::Tx& tx) { return find_customer(tx, job.customer).value(); });
  }

  World& world;
  WorkerOptions options = World::unlimited();
  DeliveryId delivery;
  Job job;
};

TEST(Leasing, AFirstStepThatComesLateRenewsTheLease) {
  World world;
  LeasedJob leased(world);
  world.database.clock.advance(leased.options.lease / 2);
  const auto renewed = world.database.clock.now() + leased.options.lease;
  const auto next = leased.begin();
  EXPECT_EQ(next.call.value().kind(), domain::CallKind::find_user);
  EXPECT_EQ(next.job.expires_at, renewed);
  EXPECT_EQ(leased.customer().lease_expires_at, renewed);
}

TEST(Leasing, AFirstStepAfterATakeOverDoesNothing) {
  World world;
  LeasedJob leased(world);
  world.database.clock.advance(leased.options.lease);
  world.write([&](storage::Tx& tx) { EXPECT_EQ(take_over_expired(tx, world.changes, Timestamp{}, 10), 1); });
  EXPECT_TRUE(leased.begin().lost);
  EXPECT_EQ(world.status(leased.delivery), "queued");
  EXPECT_EQ(leased.customer().queue_state, storage::QueueState::queued);
}

TEST(Leasing, SweepsThatRanOutAreTakenOverAfterJobsInATransactionOfTheirOwn) {
  World world;
  LeasedJob leased(world);
  world.write(
      [](storage::Tx& tx) { tx.exec_script("UPDATE cloud_accounts SET sweep_lease_expires_at = 1;"); });
  world.database.clock.advance(leased.options.lease);
  const auto take_over = [&] {
    int taken = 0;
    world.write([&](storage::Tx& tx) { taken = take_over_expired(tx, world.changes, Timestamp{}, 10); });
    return taken;
  };
  EXPECT_EQ(take_over(), 1);
  EXPECT_EQ(leased.customer().queue_state, storage::QueueState::queued);
  EXPECT_TRUE(world.queue().sweep_lease_expires_at);
  EXPECT_EQ(take_over(), 1);
  EXPECT_FALSE(world.queue().sweep_lease_expires_at);
  EXPECT_EQ(take_over(), 0);
}

TEST(Leasing, AStopBeforeTheFirstStepGivesTheLeaseBackAndCountsNoAttempt) {
  World world;
  LeasedJob leased(world);
  leased.job.shutting_down = true;
  const auto next = leased.begin();
  EXPECT_FALSE(next.call);
  EXPECT_FALSE(next.lost);
  EXPECT_EQ(world.status(leased.delivery), "queued");
  EXPECT_EQ(world.delivery(leased.delivery).attempt_count, 0);
  EXPECT_EQ(leased.customer().queue_state, storage::QueueState::queued);
  EXPECT_EQ(leased.customer().due_at, world.database.clock.now());
  EXPECT_FALSE(leased.customer().lease_expires_at);
}

TEST(Leasing, AFaultOfALeaseLeavesAnotherLeaseAlone) {
  World world;
  LeasedJob leased(world);
  const LeasedWork other{.cloud_account = leased.job.cloud_account,
                         .customer = leased.job.customer,
                         .fence = leased.job.fence + 1};
  const auto before = leased.customer();
  world.write([&](storage::Tx& tx) { postpone(tx, other); });
  EXPECT_EQ(leased.customer(), before);
}

TEST(Leasing, EveryCallStartsUnderALeaseThatOutlastsItHoweverLongALoginTakes) {
  World world(World::attentive());
  int logins = 0;
  world.agent.during = [&] {
    if (++logins > 1) world.database.clock.advance(std::chrono::seconds{26});
  };
  std::set<std::string> logged_out;
  world.cloud.tick = [&] {
    const auto& call = world.cloud.calls.back();
    const auto lease = world.write([](storage::Tx& tx) {
      return tx.one({"SELECT lease_expires_at FROM customers WHERE lease_expires_at IS NOT NULL"},
                    [](const storage::Row& r) { return r.time(0); });
    });
    ASSERT_TRUE(lease) << call;
    EXPECT_LT(world.database.clock.now() + world.cloud.call_timeout(), *lease) << call;
    // The call after this one needs a login first.
    if ((call == "friendship" || call == "request") && logged_out.insert(call).second)
      world.sessions->invalidate(world.account);
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{5});
  world.cloud.tick = nullptr;
  EXPECT_EQ(logins, 3);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.cloud.requests["u-ann"], 1);
  expect_books_balance(world);
}

TEST(Leasing, TheFriendshipIsLookedUpUnderANewLeaseWhereTheNameTookLong) {
  World world(World::attentive());
  world.agent.during = [&] { world.database.clock.advance(std::chrono::seconds{20}); };
  world.cloud.tick = [&] {
    const auto& call = world.cloud.calls.back();
    const auto lease = world.write([](storage::Tx& tx) {
      return tx.one({"SELECT lease_expires_at FROM customers WHERE lease_expires_at IS NOT NULL"},
                    [](const storage::Row& r) { return r.time(0); });
    });
    ASSERT_TRUE(lease) << call;
    EXPECT_LT(world.database.clock.now() + world.cloud.call_timeout(), *lease) << call;
    if (call == "find_user") world.database.clock.advance(std::chrono::seconds{10});
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(std::chrono::minutes{1});
  world.cloud.tick = nullptr;
  EXPECT_EQ(world.cloud.count("find_user"), 1);
  EXPECT_EQ(world.cloud.count("friendship"), 1);
  EXPECT_EQ(world.status(id), "completed");
  expect_books_balance(world);
}

}  // namespace
}  // namespace presetbridge::services
