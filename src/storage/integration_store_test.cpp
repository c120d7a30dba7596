#include "storage/integration_store.h"

#include <gtest/gtest.h>

#include <thread>

#include "storage/migrations.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

class IntegrationStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  IntegrationStoreTest() {
    if (!migrate(*db_)) throw std::runtime_error("the schema could not be made");
    db_->write([&](Tx& tx) {
      tx.exec_script("INSERT INTO accounts (id, name, created_at, cloud_account_id) VALUES (7, 'A', 0, 70);");
      IntegrationRow row{.id = IntegrationId{1}, .account = AccountId{7}, .name = "Shop"};
      row.encrypted_secret = {std::byte{1}};
      insert_integration(tx, row);
    });
  }
  std::int64_t waiting() {
    static constexpr Sql kWaiting{
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = "
        "'Lock'"};
    std::int64_t found = 0;
    db_->read([&](Tx& tx) { found = tx.one(kWaiting, [](const Row& r) { return r.int64(0); }).value(); });
    return found;
  }
  void save_mapping() {
    const std::vector<MappingRow> rows{
        {{MappingId{5}, domain::MatchType::sku, "sku-1", domain::MappingAction::deliver, "file-1", "", ""},
         "sku-1",
         false}};
    db_->write([&](Tx& tx) {
      ASSERT_TRUE(lock_integration(tx, IntegrationId{1}));
      replace_mappings(tx, IntegrationId{1}, rows);
      meanwhile_();
    });
  }
  std::int64_t log_in_as_another() {
    std::int64_t made_stale = -1;
    db_->write([&](Tx& tx) {
      made_stale = match_mappings_to_login(tx, AccountId{7}, CloudAccountId{71}).made_stale;
    });
    return made_stale;
  }

  testing::TemporaryDatabase db_{GetParam()};
  std::function<void()> meanwhile_ = [] {};
};

TEST_P(IntegrationStoreTest, AMappingThatIsBeingSavedAsALoginOfAnotherCloudUserComesBecomesStale) {
  std::int64_t made_stale = -1;
  std::thread login;
  meanwhile_ = [&] {
    login = std::thread([&] { made_stale = log_in_as_another(); });
    if (GetParam() == testing::Engine::sqlite) return;  // one transaction writes at a time
    int tries = 0;
    while (waiting() == 0 && ++tries < 10'000) {
    }
    EXPECT_LT(tries, 10'000) << "it does not wait for the mapping";
  };
  save_mapping();
  login.join();
  EXPECT_EQ(made_stale, 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, IntegrationStoreTest, ::testing::ValuesIn(testing::engines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
