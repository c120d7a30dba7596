#include "storage/schema/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Migration kFirst{
    1, "first", "CREATE TABLE a(id <int> NOT NULL PRIMARY KEY) <table>;\nINSERT INTO a VALUES(7);"};
constexpr Migration kSecond{2, "second",
                            "ALTER TABLE a ADD COLUMN name TEXT;\nCREATE INDEX a_name ON a(name);\n"};

std::vector<std::int64_t> ids(Database& database) {
  static constexpr Sql select{"SELECT id FROM a ORDER BY id"};
  std::vector<std::int64_t> found;
  database.read([&](Tx& tx) { tx.query(select, [&](const Row& row) { found.push_back(row.int64(0)); }); });
  return found;
}

class MigrationsTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  testing::TemporaryDatabase database{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, MigrationsTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

TEST_P(MigrationsTest, AMissingMigrationIsAppliedOnce) {
  EXPECT_EQ(migrate(*database, std::array{kFirst}), 1);
  EXPECT_EQ(migrate(*database, std::array{kFirst}), 0);
  EXPECT_EQ(migrate(*database, std::array{kFirst, kSecond}), 1);
  database.reopen();
  EXPECT_EQ(migrate(*database, std::array{kFirst, kSecond}), 0);
  EXPECT_THAT(ids(*database), ElementsAre(7));
}

TEST_P(MigrationsTest, LinesForPostgresqlAloneRunThereAlone) {
  constexpr Migration own{2, "own", "<postgres> INSERT INTO a VALUES(8);\nINSERT INTO a VALUES(9);"};
  EXPECT_EQ(migrate(*database, std::array{kFirst, own}), 2);
  if (GetParam() == testing::Engine::postgres) {
    EXPECT_THAT(ids(*database), ElementsAre(7, 8, 9));
  } else {
    EXPECT_THAT(ids(*database), ElementsAre(7, 9));
  }
}

TEST_P(MigrationsTest, RowsThatChangeOftenHaveRoom) {
  ASSERT_TRUE(migrate(*database));
  if (GetParam() == testing::Engine::sqlite) return;  // it has no old versions of rows in its tables
  static constexpr Sql kOptions{
      "SELECT array_to_string(reloptions, ',') FROM pg_class WHERE CAST(relname AS TEXT) = $1"};
  database->read([&](Tx& tx) {
    for (const char* table : {"accounts", "cloud_accounts"}) {
      EXPECT_THAT(tx.one(kOptions, table, [](const Row& r) { return r.string(0); }).value(),
                  HasSubstr("fillfactor=10"))
          << table;
    }
  });
}

TEST_P(MigrationsTest, TheTimeOfEachIsStored) {
  ASSERT_TRUE(migrate(*database, std::array{kFirst}));
  static constexpr Sql select{"SELECT name, applied_at FROM schema_migrations WHERE number = $1"};
  database->read([&](Tx& tx) {
    tx.query(select, 1, [&](const Row& row) {
      EXPECT_EQ(row.text(0), "first");
      EXPECT_EQ(row.time(1), database.clock.now());
    });
  });
}

TEST_P(MigrationsTest, AChangedTextOfAnAppliedMigrationIsRefused) {
  ASSERT_TRUE(migrate(*database, std::array{kFirst}));
  constexpr Migration changed{1, "first", "CREATE TABLE a(id <int> NOT NULL PRIMARY KEY) <table>;"};
  const auto result = migrate(*database, std::array{changed, kSecond});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "SCHEMA_CHANGED");
  EXPECT_EQ(migrate(*database, std::array{kFirst, kSecond}), 1) << "the refusal applied nothing";
}

TEST_P(MigrationsTest, ANewerDatabaseIsRefusedInOneSentence) {
  ASSERT_TRUE(migrate(*database, std::array{kFirst, kSecond}));
  const auto result = migrate(*database, std::array{kFirst});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "SCHEMA_NEWER");
  EXPECT_THAT(result.error().message, HasSubstr("start a newer version"));
}

TEST_P(MigrationsTest, AFailingMigrationLeavesTheOnesBeforeItAndNothingOfItself) {
  constexpr Migration broken{2, "broken", "INSERT INTO a VALUES(8);\nINSERT INTO nowhere VALUES(1);"};
  const auto result = migrate(*database, std::array{kFirst, broken});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "MIGRATION_FAILED");
  EXPECT_THAT(result.error().message, HasSubstr("Migration 2 (broken)"));
  EXPECT_THAT(ids(*database), ElementsAre(7));
  EXPECT_EQ(migrate(*database, std::array{kFirst, kSecond}), 1);
}

TEST_P(MigrationsTest, AGapInTheNumbersIsRefusedBeforeAnythingIsDone) {
  constexpr Migration third{3, "third", "DROP TABLE a;"};
  EXPECT_FALSE(migrate(*database, std::array{kFirst, third}));
  EXPECT_EQ(migrate(*database, std::array{kFirst}), 1);
}

TEST_P(MigrationsTest, NodesThatStartTogetherApplyEachOnce) {
  std::atomic<int> applied = 0;
  std::vector<std::thread> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.emplace_back([&] {
      const auto count = migrate(*database, std::array{kFirst, kSecond});
      ASSERT_TRUE(count) << count.error().message;
      applied += *count;
    });
  }
  for (auto& node : nodes) node.join();
  EXPECT_EQ(applied, 2);
}

TEST_P(MigrationsTest, TheSchemaOfThisProgramApplies) {
  const auto applied = migrate(*database);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(*applied, static_cast<int>(builtin_migrations().size()));
}

TEST_P(MigrationsTest, ASchemaIsCheckedWithoutAChange) {
  const auto code = [&](std::span<const Migration> migrations) {
    const auto checked = check_schema(*database, migrations);
    return checked ? "" : checked.error().code;
  };
  EXPECT_EQ(code(std::array{kFirst}), "SCHEMA_MISSING");
  ASSERT_TRUE(migrate(*database, std::array{kFirst}));
  EXPECT_EQ(code(std::array{kFirst}), "");
  EXPECT_EQ(code(std::array{kFirst, kSecond}), "SCHEMA_OLDER");
  EXPECT_EQ(code(std::array{Migration{1, "first", "CREATE TABLE b(id <int> PRIMARY KEY) <table>;"}}),
            "SCHEMA_CHANGED");
  EXPECT_EQ(migrate(*database, std::array{kFirst, kSecond}), 1);
  EXPECT_EQ(code(std::array{kFirst}), "SCHEMA_NEWER");
}

}  // namespace
}  // namespace presetbridge::storage
