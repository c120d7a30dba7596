#include "storage/sqlite/sqlite_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::HasSubstr;

constexpr Sql kInsert{"INSERT INTO t(id, body) VALUES($1, $2)"};
constexpr Sql kCount{"SELECT COUNT(*) FROM t"};

class Lines final : public Log {
 public:
  void write(Severity, std::string_view message, std::span<const LogField> fields) noexcept override {
    std::string line(message);
    for (const auto& field : fields) {
      if (const auto* text = std::get_if<std::string_view>(&field.value)) line += " " + std::string(*text);
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

void make_table(Database& database) {
  database.write(
      [](Tx& tx) { tx.exec_script("CREATE TABLE t(id <int> NOT NULL PRIMARY KEY, body <bytes>) <table>;"); });
}

std::int64_t rows(Database& database) {
  std::int64_t found = -1;
  database.read([&](Tx& tx) { found = *tx.one(kCount, [](const Row& row) { return row.int64(0); }); });
  return found;
}

// No file of this process may grow beyond `bytes` while it lives: a disk that is full, as SQLite sees it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, previous_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*previous_)(int) = nullptr;
};

TEST(SqliteDatabaseTest, ASecondOpenIsRefusedUntilTheFirstIsClosed) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  const SqliteOptions options{.path = directory.file("a.db"), .lock_file = {}};
  auto first = open_sqlite(options, clock);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = open_sqlite(options, clock);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "STORAGE_LOCKED");
  EXPECT_THAT(second.error().message, HasSubstr("Another process uses this data directory"));
  first->reset();
  EXPECT_TRUE(open_sqlite(options, clock));
}

TEST(SqliteDatabaseTest, OnlyItsOwnerCanReadItsFiles) {
  testing::TemporarySqlite database;
  make_table(*database);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat found{};
    ASSERT_EQ(stat((database.path() + suffix).c_str(), &found), 0) << suffix;
    EXPECT_EQ(found.st_mode & 0777, 0600U) << suffix;
  }
}

TEST(SqliteDatabaseTest, AFileThatIsNoDatabaseIsRefused) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  const auto missing = open_sqlite({.path = directory.file("no/a.db"), .lock_file = {}}, clock);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "STORAGE_UNAVAILABLE");
  const std::string path = directory.file("text.db");
  FILE* file = fopen(path.c_str(), "w");
  fputs(std::string(8192, 'x').c_str(), file);
  fclose(file);
  const auto text = open_sqlite({.path = path, .lock_file = {}}, clock);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("not a database"));
}

TEST(SqliteDatabaseTest, ItsTimeIsTheInjectedClockReadOnceATransaction) {
  testing::TemporarySqlite database;
  const Timestamp start = database.clock.now();
  database->write([&](Tx& tx) {
    EXPECT_EQ(tx.now(), start);
    database.clock.advance(Millis{5'000});
    EXPECT_EQ(tx.now(), start);
  });
  database->read([&](Tx& tx) { EXPECT_EQ(tx.now(), start + Millis{5'000}); });
}

// Stands in for fdatasync.
std::atomic<int> syncs = 0;
std::atomic<bool> sync_fails = false;
int counted_sync(int fd) {
  ++syncs;
  if (sync_fails) {
    errno = EIO;
    return -1;
  }
  return fdatasync(fd);
}

TEST(SqliteDatabaseTest, AWriteSyncsTheLogThatItIsIn) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  static ino_t synced = 0;
  const SqliteOptions options{.path = directory.file("a.db"), .lock_file = {}, .sync_file = [](int fd) {
                                struct stat found{};
                                fstat(fd, &found);
                                synced = found.st_ino;
                                return counted_sync(fd);
                              }};
  syncs = 0;
  const auto database = open_sqlite(options, clock).value();
  make_table(*database);
  EXPECT_EQ(syncs, 1);
  EXPECT_EQ(database->commit([](Tx& tx) { tx.exec(kInsert, 1, nullptr); }), Database::Durability::on_its_way);
  EXPECT_EQ(syncs, 1) << "commit() leaves it to sync()";
  database->sync();
  EXPECT_EQ(syncs, 2);
  struct stat log{};
  ASSERT_EQ(stat((options.path + "-wal").c_str(), &log), 0);
  EXPECT_EQ(synced, log.st_ino);
}

TEST(SqliteDatabaseTest, AfterAFailedSyncNothingIsWrittenUntilItIsOpenedAgain) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  const SqliteOptions options{.path = directory.file("a.db"), .lock_file = {}, .sync_file = counted_sync};
  auto database = open_sqlite(options, clock).value();
  make_table(*database);
  const auto insert_one = [&](int id) { database->write([&](Tx& tx) { tx.exec(kInsert, id, nullptr); }); };
  insert_one(1);
  sync_fails = true;
  EXPECT_THROW(insert_one(2), DbError);
  sync_fails = false;
  try {
    insert_one(3);
    FAIL() << "a disk that lost what it was given is trusted again";
  } catch (const DbError& e) {
    EXPECT_EQ(e.kind(), DbError::Kind::unavailable);
    EXPECT_THAT(e.what(), HasSubstr("until the service is restarted"));
  }
  database.reset();
  database = open_sqlite(options, clock).value();
  insert_one(3);
  std::vector<std::int64_t> ids;
  database->read([&](Tx& tx) {
    tx.query(Sql{"SELECT id FROM t WHERE id <> 2 ORDER BY id"},
             [&](const Row& r) { ids.push_back(r.int64(0)); });
  });
  EXPECT_THAT(ids, ::testing::ElementsAre(1, 3));
}

TEST(SqliteDatabaseTest, ATransactionThatWroteNothingIsNotSynced) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  const auto database =
      open_sqlite({.path = directory.file("a.db"), .lock_file = {}, .sync_file = counted_sync}, clock)
          .value();
  make_table(*database);
  syncs = 0;
  database->write([](Tx& tx) { tx.exec(Sql{"DELETE FROM t WHERE id = 7"}); });
  EXPECT_EQ(syncs, 0);
}

TEST(SqliteDatabaseTest, ATransactionThatOnlyReadsIsAsDurableAsWhatItMayHaveRead) {
  testing::TemporarySqlite database;
  make_table(*database);
  const auto read_only = [](Tx& tx) { tx.query(kCount, [](const Row&) {}); };
  EXPECT_EQ(database->commit(read_only), Database::Durability::durable);
  EXPECT_EQ(database->commit([](Tx& tx) { tx.exec(kInsert, 1, nullptr); }), Database::Durability::on_its_way);
  EXPECT_EQ(database->commit(read_only), Database::Durability::on_its_way);
  database->sync();
  EXPECT_EQ(database->commit(read_only), Database::Durability::durable);
}

TEST(SqliteDatabaseTest, ADatabaseBehindASymbolicLinkSyncsItsOwnLog) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  std::filesystem::create_directory(directory.file("disk"));
  std::filesystem::create_symlink("disk/a.db", directory.file("a.db"));
  syncs = 0;
  const auto database =
      open_sqlite({.path = directory.file("a.db"), .lock_file = {}, .sync_file = counted_sync}, clock)
          .value();
  make_table(*database);
  EXPECT_EQ(syncs, 1);
  EXPECT_TRUE(std::filesystem::exists(directory.file("disk/a.db-wal")));
}

TEST(SqliteDatabaseTest, TheLogIsCheckpointedSoThatItDoesNotGrow) {
  const testing::TemporaryDirectory directory;
  const presetbridge::testing::ManualClock clock;
  const SqliteOptions options{.path = directory.file("a.db"), .checkpoint_pages = 20, .lock_file = {}};
  const auto database = open_sqlite(options, clock).value();
  make_table(*database);
  const std::string body(4'000, 'x');
  for (int id = 1; id <= 100; ++id) {
    database->write([&](Tx& tx) { tx.exec(kInsert, id, Blob(std::as_bytes(std::span(body)))); });
  }
  struct stat log{};
  ASSERT_EQ(stat((options.path + "-wal").c_str(), &log), 0);
  EXPECT_LT(log.st_size, 40 * 4'200);
  EXPECT_EQ(rows(*database), 100);
}

TEST(SqliteDatabaseTest, ACheckpointThatFailsIsLoggedOnceAndCostsNoCommit) {
  const testing::TemporaryDirectory directory;
  presetbridge::testing::ManualClock clock;
  Lines log;
  const SqliteOptions options{
      .path = directory.file("a.db"), .checkpoint_pages = 20, .lock_file = {}, .log = &log};
  const auto database = open_sqlite(options, clock).value();
  make_table(*database);
  const std::string body(4'000, 'x');
  int id = 0;
  const auto insert_pages = [&](int pages) {
    for (int i = 0; i < pages; ++i)
      database->write([&](Tx& tx) { tx.exec(kInsert, ++id, Blob(std::as_bytes(std::span(body)))); });
  };
  insert_pages(200);  // the file is some 1,000 KiB then
  EXPECT_THAT(log.lines, ::testing::IsEmpty());
  {
    // Room for the log, not for what a checkpoint would add to the file.
    const FileSizeLimit limit(std::filesystem::file_size(options.path));
    insert_pages(50);
    EXPECT_THAT(log.lines,
                ::testing::ElementsAre(::testing::HasSubstr("the storage is in trouble checkpoints SQLite")));
  }
  clock.advance(std::chrono::minutes{1});
  insert_pages(50);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_THAT(log.lines.back(), ::testing::HasSubstr("the storage works again checkpoints"));
  EXPECT_EQ(rows(*database), 300);
}

TEST(SqliteDatabaseTest, ItRunsInWalModeWithForeignKeys) {
  testing::TemporarySqlite database;
  database->write([](Tx& tx) {
    tx.query(Sql{"PRAGMA journal_mode"}, [](const Row& row) { EXPECT_EQ(row.text(0), "wal"); });
    tx.query(Sql{"PRAGMA synchronous"}, [](const Row& row) { EXPECT_EQ(row.int64(0), 1); });
    tx.query(Sql{"PRAGMA foreign_keys"}, [](const Row& row) { EXPECT_EQ(row.int64(0), 1); });
  });
}

TEST(SqliteDatabaseTest, AFullDiskIsUnavailableAndLeavesTheDatabaseUsable) {
  testing::TemporarySqlite database;
  make_table(*database);
  const std::string body(64 << 10, 'x');
  const auto insert_one = [&](std::int64_t id) {
    database->write([&](Tx& tx) { tx.exec(kInsert, id, Blob(std::as_bytes(std::span(body)))); });
  };
  insert_one(1);
  std::int64_t committed = 1;
  {
    const FileSizeLimit limit(1 << 20);
    try {
      while (committed < 100) {
        insert_one(committed + 1);
        ++committed;
      }
      FAIL() << "the limit had no effect";
    } catch (const DbError& e) {
      EXPECT_EQ(e.kind(), DbError::Kind::unavailable) << e.what();
    }
    EXPECT_EQ(rows(*database), committed);
  }
  insert_one(committed + 1);
  database.reopen();
  EXPECT_EQ(rows(*database), committed + 1);
}

TEST(SqliteDatabaseTest, ATextWhoseStorageWasReusedIsNoticed) {
  testing::TemporarySqlite database;
  make_table(*database);
  std::string text = "SELECT 1";
  const Sql sql{text.c_str()};
  database->write([&](Tx& tx) { tx.exec(sql); });
  text = "SELECT 2";
  EXPECT_THROW(database->write([&](Tx& tx) { tx.exec(sql); }), DbError);
}

}  // namespace
}  // namespace presetbridge::storage
