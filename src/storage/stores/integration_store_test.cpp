#include "storage/stores/integration_store.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <thread>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

class IntegrationStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  IntegrationStoreTest() {
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

  testing::MigratedDatabase db_{GetParam()};
  std::function<void()> meanwhile_ = [] {};
};

TEST_P(IntegrationStoreTest, AMappingThatIsBeingSavedAsALoginOfAnotherCloudUserComesBecomesStale) {
  std::int64_t made_stale = -1;
  std::thread login;
  meanwhile_ = [&] {
    login = std::thread([&] { made_stale = log_in_as_another(); });
    if (GetParam() == testing::Engine::sqlite) return;  // one transaction writes at a time
    int polls = 0;
    while (waiting() == 0 && ++polls < 10'000) {
    }
    EXPECT_LT(polls, 10'000) << "it does not wait for the mapping";
  };
  save_mapping();
  login.join();
  EXPECT_EQ(made_stale, 1);
}

// ---------------------------------------------------------------- saves in batches

constexpr IntegrationId kStore{1};

std::vector<MappingRow> rows_of(std::int64_t first, int count, const std::string& file) {
  std::vector<MappingRow> rows;
  for (int i = 0; i < count; ++i) {
    const std::string sku = "sku-" + std::to_string(i);
    rows.push_back({{MappingId{first + i}, domain::MatchType::sku, sku, domain::MappingAction::deliver, file,
                     "preset", "File"},
                    sku,
                    false});
  }
  return rows;
}

class StagedMappingsTest : public IntegrationStoreTest {
 protected:
  template <class Fn>
  auto write(Fn fn) {
    std::optional<std::invoke_result_t<Fn&, Tx&>> result;
    db_->write([&](Tx& tx) { result.emplace(fn(tx)); });
    return std::move(*result);
  }
  // The files of the mappings in force, each with the number of mappings that name it.
  std::map<std::string, int> files() {
    return write([](Tx& tx) {
      std::map<std::string, int> found;
      for (const auto& row : find_mappings(tx, kStore)) ++found[row.mapping.file_id];
      std::int64_t sum = 0;
      for (const auto& [file, count] : found) sum += count;
      EXPECT_EQ(count_mappings(tx, std::array{kStore}).front(), sum);
      return found;
    });
  }
  std::int64_t all_rows() {
    return write([](Tx& tx) {
      return tx.one({"SELECT count(*) FROM mappings"}, [](const Row& r) { return r.int64(0); }).value();
    });
  }
  MappingSave begin(const std::vector<MappingRow>& rows) {
    return write([&](Tx& tx) {
      const auto save = begin_mappings(tx, kStore, tx.now() + Millis{60'000});
      stage_mappings(tx, save, rows);
      return save;
    });
  }
  bool use(const MappingSave& save, std::int64_t count) {
    return write([&](Tx& tx) {
      lock_integration(tx, kStore);
      return use_mappings(tx, save, count);
    });
  }
  void replace(const std::vector<MappingRow>& rows) {
    db_->write([&](Tx& tx) { replace_mappings(tx, kStore, rows); });
  }
  void delete_remains() {
    while (write([](Tx& tx) {
      std::int64_t deleted = 0;
      for (const auto& remains : find_mapping_remains(tx, 10))
        deleted += delete_mapping_remains(tx, remains, 3);
      return deleted > 0;
    })) {
    }
  }
  // As an older program saves mappings.
  void save_as_before(int count, const std::string& file) {
    db_->write([&](Tx& tx) {
      tx.exec({"DELETE FROM mappings WHERE integration_id = $1"}, kStore);
      for (const auto& row : rows_of(9'000, count, file)) {
        tx.exec({"INSERT INTO mappings (id, integration_id, match_type, match_value, match_key, action, "
                 "file_id, kind, file_name, stale) VALUES ($1, $2, 'sku', $3, $3, 'deliver', $4, 'preset', "
                 "'File', 0)"},
                row.mapping.id, kStore, row.mapping.value, row.mapping.file_id);
      }
      tx.exec({"UPDATE integrations SET version = version + 1 WHERE id = $1"}, kStore);
    });
  }
};

TEST_P(StagedMappingsTest, ASaveIsNotSeenBeforeItIsWhole) {
  replace(rows_of(1, 5, "old"));
  const auto save = begin(rows_of(100, 7, "new"));
  EXPECT_EQ(files(), (std::map<std::string, int>{{"old", 5}}));
  const auto before = write([](Tx& tx) { return find_integration(tx, kStore)->version; });
  ASSERT_TRUE(use(save, 7));
  EXPECT_EQ(files(), (std::map<std::string, int>{{"new", 7}}));
  EXPECT_EQ(write([](Tx& tx) { return find_integration(tx, kStore)->version; }), before + 1);
  EXPECT_EQ(all_rows(), 12);
  delete_remains();
  EXPECT_EQ(all_rows(), 7);
  EXPECT_EQ(files(), (std::map<std::string, int>{{"new", 7}}));
}

TEST_P(StagedMappingsTest, OfTwoSavesAtOneTimeTheLastThatIsUsedStandsWhole) {
  const auto one = begin(rows_of(1, 4, "one"));
  const auto two = begin(rows_of(100, 6, "two"));
  ASSERT_TRUE(use(two, 6));
  delete_remains();
  ASSERT_TRUE(use(one, 4)) << "it is not remains as long as it has time";
  EXPECT_EQ(files(), (std::map<std::string, int>{{"one", 4}}));
  delete_remains();
  EXPECT_EQ(all_rows(), 4);
}

TEST_P(StagedMappingsTest, WhatASaveLeftThatNeverEndedGoesWhenItsTimeIsOver) {
  replace(rows_of(1, 2, "old"));
  begin(rows_of(100, 7, "lost"));
  delete_remains();
  EXPECT_EQ(all_rows(), 9);
  db_.clock.advance(Millis{60'001});
  delete_remains();
  EXPECT_EQ(all_rows(), 2);
  EXPECT_EQ(files(), (std::map<std::string, int>{{"old", 2}}));
}

TEST_P(StagedMappingsTest, ASaveWhoseRowsWereDeletedMeanwhileIsRefused) {
  replace(rows_of(1, 2, "old"));
  const auto save = begin(rows_of(100, 7, "new"));
  db_.clock.advance(Millis{60'001});
  delete_remains();
  EXPECT_FALSE(use(save, 7));
  EXPECT_EQ(files(), (std::map<std::string, int>{{"old", 2}}));
}

TEST_P(StagedMappingsTest, ASaveBegunUnderAnotherLoginIsRefused) {
  const auto save = begin(rows_of(100, 7, "new"));
  db_->write([](Tx& tx) {
    match_mappings_to_login(tx, AccountId{7}, CloudAccountId{71});
    tx.exec({"UPDATE accounts SET cloud_account_id = 71 WHERE id = 7"});
  });
  EXPECT_FALSE(use(save, 7));
  EXPECT_TRUE(files().empty());
}

TEST_P(StagedMappingsTest, WhatAProgramOfBeforeSavesCounts) {
  replace(rows_of(1, 5, "new"));
  save_as_before(3, "before");
  EXPECT_EQ(files(), (std::map<std::string, int>{{"before", 3}}));
  delete_remains();
  EXPECT_EQ(files(), (std::map<std::string, int>{{"before", 3}}));
  replace(rows_of(1, 2, "new again"));
  EXPECT_EQ(files(), (std::map<std::string, int>{{"new again", 2}}));
  EXPECT_EQ(all_rows(), 2);
}

TEST_P(StagedMappingsTest, WhatAProgramOfBeforeSavesIsNoRemains) {
  save_as_before(3, "before");
  ASSERT_TRUE(use(begin(rows_of(1, 5, "new")), 5));
  save_as_before(4, "before again");
  delete_remains();
  EXPECT_EQ(files(), (std::map<std::string, int>{{"before again", 4}}));
}

TEST_P(StagedMappingsTest, AProgramOfBeforeThatSavesDuringASaveIsNotMixedWithIt) {
  const auto save = begin(rows_of(1, 5, "new"));
  save_as_before(3, "before");
  EXPECT_FALSE(use(save, 5));
  EXPECT_EQ(files(), (std::map<std::string, int>{{"before", 3}}));
}

TEST_P(StagedMappingsTest, NoneIsASaveToo) {
  save_as_before(3, "before");
  replace({});
  EXPECT_TRUE(files().empty());
  replace(rows_of(1, 2, "new"));
  replace({});
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(all_rows(), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, StagedMappingsTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });
INSTANTIATE_TEST_SUITE_P(Engines, IntegrationStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
