#include "app/verbs/copy_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "storage/schema/migrations.h"
#include "storage/testing.h"

namespace presetbridge::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A server that nobody runs: what is refused here is refused before one is asked.
constexpr const char* kNowhere = "postgresql://127.0.0.1:1/none";

struct Outcome {
  int code;
  std::string out;
  std::string err;
};
Outcome copied(const CopyVerbOptions& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_copy(options, out, err);
  return {code, out.str(), err.str()};
}

TEST(CopyVerb, RefusesWhatIsNoSourceOrTarget) {
  EXPECT_EQ(copied({.from = "presetbridge.db", .to = kNowhere}).code, 2);
  EXPECT_EQ(copied({.from = "sqlite:", .to = kNowhere}).code, 2);
  EXPECT_EQ(copied({.from = kNowhere, .to = kNowhere}).code, 2);
  EXPECT_EQ(copied({.from = "sqlite:a.db", .to = "sqlite:b.db"}).code, 2);
  EXPECT_EQ(copied({.from = "sqlite:a.db", .to = "host=db.example"}).code, 2);
}

TEST(CopyVerb, RefusesAPasswordInTheUrlAndDoesNotShowIt) {
  for (const char* url :
       {"postgresql://user:secret-word@db.example/x", "postgres://db.example/x?password=secret-word"}) {
    const auto refused = copied({.from = "sqlite:a.db", .to = url});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--to must not hold a password"));
    EXPECT_THAT(refused.err, Not(HasSubstr("secret-word")));
  }
}

TEST(CopyVerb, RefusesAFileThatIsNotThereAndMakesNone) {
  const storage::testing::TemporaryDirectory folder;
  const auto refused = copied({.from = "sqlite:" + folder.file("none.db"), .to = kNowhere});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("There is no file"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

TEST(CopyVerb, RefusesADatabaseInUse) {
  storage::testing::TemporarySqlite used;
  ASSERT_TRUE(storage::migrate(*used));
  const auto refused = copied({.from = "sqlite:" + used.path(), .to = kNowhere});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("STORAGE_LOCKED"));
}

TEST(CopyVerb, RefusesASourceOfAnotherSchemaAndLeavesItAsItWas) {
  const storage::testing::TemporaryDirectory folder;
  const presetbridge::testing::ManualClock clock;
  const std::string file = folder.file("test.db");
  std::ofstream(file).flush();
  EXPECT_THAT(copied({.from = "sqlite:" + file, .to = kNowhere}).err, HasSubstr("SCHEMA_MISSING"));
  {
    const auto database = storage::open_sqlite({.path = file, .lock_file = {}}, clock);
    ASSERT_TRUE(database);
    EXPECT_EQ(storage::check_schema(**database).error().code, "SCHEMA_MISSING");
    constexpr storage::Migration other{1, "other", "CREATE TABLE a(id <int> PRIMARY KEY) <table>;"};
    ASSERT_TRUE(storage::migrate(**database, std::array{other}));
  }
  EXPECT_THAT(copied({.from = "sqlite:" + file, .to = kNowhere}).err, HasSubstr("SCHEMA_CHANGED"));
}

TEST(CopyVerb, CopiesToPostgres) {
  storage::testing::TemporaryPostgres server(storage::testing::TemporaryPostgres::Kind::quick);
  const storage::testing::TemporaryDirectory folder;
  const presetbridge::testing::ManualClock clock;
  const std::string file = folder.file("test.db");
  {
    const auto database = storage::open_sqlite({.path = file, .lock_file = {}}, clock);
    ASSERT_TRUE(database);
    ASSERT_TRUE(storage::migrate(**database));
    (*database)->write([](storage::Tx& tx) {
      tx.exec_script("INSERT INTO accounts (id, name, created_at) VALUES (1, 'one', 1), (2, 'two', 1);");
    });
  }
  const auto done = copied({.from = "sqlite:" + file, .to = server.url(), .json = true});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(R"({"table":"accounts","sourceRows":2,"targetRows":2,"sourceChecksum":")"));
  EXPECT_THAT(done.out, HasSubstr(R"("rows":2,"equal":true})"
                                  "\n"));
  EXPECT_THAT(done.err, HasSubstr("copying accounts: 2 rows, done\n"));
  const auto again = copied({.from = "sqlite:" + file, .to = server.url()});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("COPY_TARGET_NOT_EMPTY"));
}

}  // namespace
}  // namespace presetbridge::app
