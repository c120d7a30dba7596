// Processing many orders again as one job (spec 9.3).
#include "services/bulk/bulk_reprocess.h"

#include <gmock/gmock.h>

#include "services/orders/orders_testing.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using testing::expect_books_balance;
using testing::later;
using testing::OrdersTest;
using ::testing::SizeIs;

class ReprocessMany : public OrdersTest {
 protected:
  using Worker = std::unique_ptr<BulkWorker>;
  Worker start() {
    auto worker =
        std::make_unique<BulkWorker>(world.scheduler, world.async_db, world.log,
                                     std::vector<BulkAction*>{&bulk}, [this] { world.worker->wake(); });
    worker->start();
    return worker;
  }
  void stop(Worker& worker) {
    bool stopped = false;
    worker->stop([&] { stopped = true; });
    world.settle();
    EXPECT_TRUE(stopped);
    worker.reset();
  }
  ReprocessPlan ask(OrderQuery query, bool dry_run = false) {
    return world.await(bulk.ask(world.scheduler, world.merchant(), std::move(query), dry_run)).value();
  }
  storage::BulkJobRow job(BulkJobId id) {
    return world.await(jobs.get(world.scheduler, world.merchant(), id)).value();
  }
  // The same while the loops stand still.
  storage::BulkJobRow row(BulkJobId id) {
    return world.write([&](storage::Tx& tx) { return find_bulk_job(tx, id).value(); });
  }
  void run_until(BulkJobId id, std::int64_t done) {
    for (int i = 0; row(id).done < done; ++i) {
      ASSERT_LT(i, 10'000);
      // A worker that met another at the job polls again a while later.
      if (!world.scheduler.run_one()) world.database.clock.set(world.database.clock.now() + Millis{1'000});
    }
    ASSERT_FALSE(row(id).finished_at);
  }
  std::int64_t count(const char* what) {
    return world.write([&](storage::Tx& tx) {
      return tx.one({what}, [](const storage::Row& r) { return r.int64(0); }).value();
    });
  }

  BulkJobs jobs{world.async_db, world.ids, [] {}};
  BulkReprocess bulk{world.async_db, world.changes, world.directory, jobs};
};

TEST_F(ReprocessMany, EachOnceWhateverIsKilledAndHoweverManyWork) {
  constexpr int kOrders = 130;
  for (int i = 0; i < kOrders; ++i) order("u" + std::to_string(i), {"new"});
  order("whole", {"sku-1"});
  auto stopped = later(world, "stopped", {"new"}, 1);
  order("stopped", {"new"});
  stopped.payment = domain::Payment::cancelled;
  world.accept(stopped);
  world.settle();
  map("new", "file-9");
  const auto planned = ask({.unmapped = true}, true);
  EXPECT_EQ(planned.count.orders, kOrders + 1);
  EXPECT_TRUE(planned.count.exact);
  EXPECT_FALSE(planned.job.id);
  const auto asked = ask({.unmapped = true}).job;
  world.write([&](storage::Tx& tx) { tx.exec({"DELETE FROM delivery_timeline"}); });
  world.settle(Millis{5});
  order("after", {"sku-1", "newer"});

  // Three at once, of which one after the other dies in the middle.
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start());
  run_until(asked.id, 20);
  workers[0]->stop([] {});
  run_until(asked.id, 70);
  workers[1]->stop([] {});
  world.settle(std::chrono::minutes{1});
  const auto ended = job(asked.id);
  ASSERT_TRUE(ended.finished_at);
  EXPECT_EQ(ended.done, kOrders);
  EXPECT_EQ(ended.failed, 1);
  EXPECT_EQ(ended.filter, "{}");
  const auto failures = boost::json::parse(ended.failures).as_array();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].at("code").as_string(), "INVALID_TRANSITION");
  EXPECT_EQ(count("SELECT count(*) FROM deliveries"), kOrders + 2);
  EXPECT_EQ(count("SELECT count(*) FROM delivery_timeline WHERE message = 'The order was processed again "
                  "with the mappings of now.'"),
            kOrders);
  EXPECT_EQ(get(order("after", {"sku-1", "newer"}).order).order.unmapped, 1);
  stop(workers[2]);
  expect_books_balance(world);
}

TEST_F(ReprocessMany, AJobGoesOnWhereTheProcessDied) {
  for (int i = 0; i < 120; ++i) order("u" + std::to_string(i), {"new"});
  map("new", "file-9");
  const auto asked = ask({.unmapped = true}).job;
  auto worker = start();
  run_until(asked.id, 30);
  stop(worker);
  EXPECT_FALSE(row(asked.id).finished_at);
  EXPECT_LT(row(asked.id).done, 120);
  worker = start();
  world.settle(std::chrono::minutes{1});
  EXPECT_EQ(job(asked.id).done, 120);
  EXPECT_TRUE(job(asked.id).finished_at);
  EXPECT_EQ(count("SELECT count(*) FROM deliveries"), 120);
  stop(worker);
}

TEST_F(ReprocessMany, OneOfThemThatCannotBeReadHoldsUpNoOther) {
  std::vector<OrderId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(order("u" + std::to_string(i), {"new"}).order);
  map("new", "file-9");
  world.write([&](storage::Tx& tx) { tx.exec({"UPDATE orders SET state = '?' WHERE id = $1"}, ids[1]); });
  const auto asked = ask({.unmapped = true}).job;
  auto worker = start();
  world.settle();
  EXPECT_EQ(job(asked.id).done, 2);
  EXPECT_EQ(job(asked.id).failed, 1);
  EXPECT_TRUE(job(asked.id).finished_at);
  stop(worker);
}

TEST_F(ReprocessMany, OfAFilterThoseAloneThatFitAndThatWhoAskedSees) {
  const auto other = world.add_tenant("m-1");
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE integrations SET account_id = $1 WHERE id = $2"}, world.account, other.integration);
  });
  order("mine", {"new"});
  auto event = later(world, "other", {"new"}, 0);
  event.order_number = "#5";
  world.accept(other.integration, event);
  EXPECT_EQ(ask({}, true).count.orders, 2);
  EXPECT_EQ(ask({.integration = other.integration}, true).count.orders, 1);
  EXPECT_EQ(ask({.search = "#5"}, true).count.orders, 1);
  EXPECT_EQ(ask({.outcome = domain::OrderOutcome::stopped}, true).count.orders, 0);
  auto limited = world.merchant();
  limited.integrations = identity::IntegrationScope({world.integration});
  const auto plan = world.await(bulk.ask(world.scheduler, limited, {}, false)).value();
  EXPECT_EQ(plan.count.orders, 1);
  map("new", "file-9");
  auto worker = start();
  world.settle();
  EXPECT_EQ(job(plan.job.id).done, 1);
  EXPECT_THAT(keys({.outcome = domain::OrderOutcome::delivery}), ElementsAre("mine"));
  stop(worker);

  const auto whole = ask({}).job;
  EXPECT_EQ(world.await(jobs.get(world.scheduler, limited, whole.id)).error().code, "NOT_FOUND");
  EXPECT_TRUE(world.await(jobs.get(world.scheduler, limited, plan.job.id)));
  auto stranger = world.merchant();
  stranger.account = other.account;
  EXPECT_EQ(world.await(jobs.get(world.scheduler, stranger, whole.id)).error().code, "NOT_FOUND");
}

TEST_F(ReprocessMany, AnAccountHasFiveUnderWay) {
  for (int i = 0; i < kMostBulkJobs; ++i) ask({});
  const auto more = world.await(bulk.ask(world.scheduler, world.merchant(), {}, false));
  EXPECT_EQ(more.error().code, "LIMIT_REACHED");
}

}  // namespace
}  // namespace presetbridge::services
