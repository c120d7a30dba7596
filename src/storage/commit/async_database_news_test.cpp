// News of transactions, which are reported once they are on disk.
#include <gmock/gmock.h>

#include <functional>

#include "storage/commit/async_database_testing.h"

namespace presetbridge::storage {
namespace {

using testing::add;
using testing::AsyncDatabaseTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::SlowDisk;

// The news that is reported.
struct Reported {
  std::function<void(const News&)> sink() {
    return [this](const News& news) {
      const std::lock_guard lock(mutex);
      for (const auto& one : news.platform) accounts.push_back(one.cloud_account.value);
    };
  }
  std::vector<std::int64_t> all() {
    const std::lock_guard lock(mutex);
    return accounts;
  }
  std::mutex mutex;
  std::vector<std::int64_t> accounts;
};

std::int64_t add_with_news(Tx& tx, std::int64_t id) {
  tx.news().platform.push_back({CloudAccountId{id}, "outage"});
  return add(tx, id);
}

TEST_P(AsyncDatabaseTest, NewsIsReportedOfTheRunThatStandsOnceItIsOnDisk) {
  Reported reported;
  AsyncDatabase async_db(*database_, log_, {.on_news = reported.sink()});
  Gate gate(async_db);
  for (std::size_t i = 0; i < 10; ++i) {
    start(async_db, mailbox_, i, [i](Tx& tx) {
      const auto id = add_with_news(tx, static_cast<std::int64_t>(i));
      if (i == 4) throw std::runtime_error("poison");
      return id;
    });
  }
  gate.open();
  mailbox_.run_until(finished(10));
  async_db.shutdown();
  EXPECT_THAT(reported.all(), ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9));
}

TEST_P(AsyncDatabaseTest, NewsThatIsNotOnDiskIsNotReported) {
  Reported reported;
  SlowDisk disk(*database_);
  AsyncDatabase async_db(disk, log_, {.on_news = reported.sink()});
  start(async_db, mailbox_, 0, [](Tx& tx) { return add_with_news(tx, 0); });
  disk.syncing.acquire();
  EXPECT_THAT(reported.all(), IsEmpty()) << "it is committed, and not on disk";
  disk.let.release();
  mailbox_.run_until(finished(1));
  disk.broken = true;
  disk.let.release();
  start(async_db, mailbox_, 1, [](Tx& tx) { return add_with_news(tx, 1); });
  mailbox_.run_until(finished(2));
  async_db.shutdown();
  EXPECT_THAT(reported.all(), ElementsAre(0));
}

}  // namespace
}  // namespace presetbridge::storage
