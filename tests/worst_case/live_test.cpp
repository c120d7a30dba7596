// What readers of an account's events cost: those who write what they read, and one who comes back.
#include <gmock/gmock.h>

#include "services/live/live_changes.h"
#include "storage/stores/change_store.h"
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

constexpr int kMissed = 500;  // changes that are read at once

class Live : public WorstCase {
 protected:
  void watch() {
    world_.write(
        [&](storage::Tx& tx) { watch_account(tx, world_.account, 7, tx.now() + std::chrono::hours{1}); });
  }
};

TEST_F(Live, ANewOrderOfAWatchedAccount) {
  ASSERT_EQ(map(kFiles / kOfKey, kOfKey).status, 200);
  watch();
  const auto work = measure([&] { hook("orders/create", order("1", kFiles / kOfKey)); });
  expect("new order: 250 lines, 500 files, of an account whose events are read", work,
         {.rows_written = 1'030,
          .largest_transaction = 1'030,
          .statements = 26,
          .rows_read = 600,
          .bytes_written = 3 * static_cast<std::int64_t>(kBody),
          .bytes_read = static_cast<std::int64_t>(kBody),
          .allocations = 200'000,
          .branches = 30'000'000});
}

TEST_F(Live, AReaderWhoComesBack) {
  watch();
  world_.write([&](storage::Tx& tx) {
    for (int id = 1; id <= 2 * kMissed; ++id)
      tx.changes().push_back(changed(storage::ChangeKind::bulk, world_.account, BulkJobId{id}));
  });
  services::LiveChanges changes(
      {world_.scheduler, world_.async_db, world_.ids, world_.database.clock, world_.log, world_.metrics}, {});
  SharedSlots readers(1);
  std::optional<std::string> hello;
  std::optional<std::string> missed;
  const auto work = measure([&] {
    auto opened = world_.await(changes.open(world_.scheduler, {.account = world_.account,
                                                               .last_event_id = "7-0",
                                                               .until = Timestamp::max(),
                                                               .slot = readers.take({}).value()}));
    ASSERT_TRUE(opened);
    hello = world_.await((*opened)->next());
    missed = world_.await((*opened)->next());
  });
  EXPECT_THAT(hello.value_or(""), ::testing::HasSubstr("true"));
  EXPECT_THAT(missed.value_or(""), ::testing::HasSubstr("id: 7-1\n"));
  expect("GET /api/events: the next of 1,000 changes that were missed", work,
         {.rows_written = 2,
          .largest_transaction = 2,
          .statements = 6,
          .rows_read = kMissed + 10,
          .bytes_written = 100,
          .bytes_read = 64 * 1024,
          .allocations = 10 * kMissed,
          .branches = 10'000});
}

}  // namespace
}  // namespace presetbridge::worst_case
