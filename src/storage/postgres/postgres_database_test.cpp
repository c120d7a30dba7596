#include "storage/postgres/postgres_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <semaphore>
#include <thread>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Sql kInsert{"INSERT INTO t(id, n) VALUES($1, 0)"};
constexpr Sql kAdd{"UPDATE t SET n = n + 1 WHERE id = $1"};
constexpr Sql kAllIds{"SELECT id FROM t ORDER BY id"};
constexpr Sql kOwnPid{"SELECT CAST(pg_backend_pid() AS BIGINT)"};

class PostgresDatabaseTest : public ::testing::Test {
 protected:
  PostgresDatabaseTest() {
    server_.run("CREATE TABLE t(id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)");
    database_ = open(options());
  }

  PostgresOptions options() const { return testing::patient(server_.url()); }
  static std::unique_ptr<Database> open(const PostgresOptions& options) {
    auto opened = open_postgres(options);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> found;
    database_->read([&](Tx& tx) {
      found.clear();
      tx.query(kAllIds, [&](const Row& row) { found.push_back(row.int64(0)); });
    });
    return found;
  }
  static std::int64_t pid_of(Tx& tx) {
    return tx.one(kOwnPid, [](const Row& row) { return row.int64(0); }).value();
  }
  // Ends the server's side of a connection, and returns once it is gone.
  void terminate(std::int64_t pid) const {
    ASSERT_EQ(server_.run("SELECT pg_terminate_backend(" + std::to_string(pid) + ", 60000)"), "t");
  }
  // Polls the server until the query answers `wanted`.
  void wait_until(const std::string& query, const std::string& wanted) const {
    for (int attempt = 0; attempt < 10'000; ++attempt) {
      if (server_.run(query) == wanted) return;
    }
    FAIL() << query;
  }
  static DbError::Kind kind_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const DbError& e) {
      return e.kind();
    }
    ADD_FAILURE() << "no DbError";
    return {};
  }

  testing::TemporaryPostgres server_;
  std::unique_ptr<Database> database_;
};

TEST_F(PostgresDatabaseTest, ItsSessionsCommitDurablyAndPlanForGrownTables) {
  database_->write([](Tx& tx) {
    const auto setting = [&](const Sql& show) {
      return tx.one(show, [](const Row& row) { return row.string(0); }).value();
    };
    EXPECT_EQ(setting({"SHOW synchronous_commit"}), "on");
    EXPECT_EQ(setting({"SHOW fsync"}), "on");
    EXPECT_EQ(setting({"SHOW enable_seqscan"}), "off");
    EXPECT_EQ(setting({"SHOW enable_bitmapscan"}), "off");
    EXPECT_EQ(setting({"SHOW enable_hashjoin"}), "off");
    EXPECT_EQ(setting({"SHOW enable_mergejoin"}), "off");
    EXPECT_EQ(setting({"SHOW jit"}), "off");
    EXPECT_EQ(setting({"SHOW client_encoding"}), "UTF8");
    EXPECT_EQ(setting({"SHOW transaction_isolation"}), "read committed");
    EXPECT_EQ(setting({"SHOW statement_timeout"}), "1min");
    EXPECT_EQ(setting({"SHOW lock_timeout"}), "1min");
    EXPECT_EQ(setting({"SHOW idle_in_transaction_session_timeout"}), "1min");
  });
}

TEST_F(PostgresDatabaseTest, ItsTimeIsTheServers) {
  const std::string clock = "SELECT CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";
  const auto before = std::stoll(server_.run(clock));
  Timestamp seen{};
  database_->write([&](Tx& tx) { seen = tx.now(); });
  const auto after = std::stoll(server_.run(clock));
  EXPECT_GE(to_unix_ms(seen), before);
  EXPECT_LE(to_unix_ms(seen), after);
}

TEST_F(PostgresDatabaseTest, AnIdleConnectionThatTheServerEndedIsReplacedUnnoticed) {
  for (int round = 1; round <= 3; ++round) {
    std::int64_t writer = 0;
    std::int64_t reader = 0;
    database_->write([&](Tx& tx) { writer = pid_of(tx); });
    database_->read([&](Tx& tx) { reader = pid_of(tx); });
    terminate(writer);
    terminate(reader);
    int runs = 0;
    database_->write([&](Tx& tx) {
      ++runs;
      tx.exec(kInsert, round);
    });
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(ids().size(), static_cast<std::size_t>(round));
  }
}

TEST_F(PostgresDatabaseTest, ATransactionWhoseConnectionIsLostRunsAgainAndCountsOnce) {
  database_->write([](Tx& tx) { tx.exec(kInsert, 1); });
  int runs = 0;
  database_->write([&](Tx& tx) {
    tx.exec(kAdd, 1);
    if (++runs <= 2) terminate(pid_of(tx));
    tx.exec(kAdd, 1);
  });
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(server_.run("SELECT n FROM t"), "2");
  // A whole batch in a pipeline is lost with its connection too.
  runs = 0;
  const std::vector<Param> flat(40, Param(1));
  database_->write([&](Tx& tx) {
    if (++runs == 1) terminate(pid_of(tx));
    tx.exec_many(kAdd, 1, flat);
  });
  EXPECT_EQ(server_.run("SELECT n FROM t"), "42");
}

TEST_F(PostgresDatabaseTest, AServerThatDoesNotAnswerIsGivenUp) {
  PostgresOptions hasty = options();
  hasty.statement_timeout = Millis{2'000};  // the second run has to fit it, on a busy machine too
  const auto database = open(hasty);
  // It runs on also when the test fails: the server waits for it when it stops.
  struct Stopped {
    ~Stopped() {
      if (pid != 0) kill(pid, SIGCONT);
    }
    pid_t pid = 0;
  } stopped;
  int runs = 0;
  database->write([&](Tx& tx) {
    if (++runs == 1) {
      stopped.pid = static_cast<pid_t>(pid_of(tx));
      ASSERT_EQ(kill(stopped.pid, SIGSTOP), 0);
    }
    tx.exec(kInsert, 1);
  });
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_F(PostgresDatabaseTest, MigrationsOfTwoNodesTakeTurns) {
  std::vector<int> order;
  std::thread other;
  database_->write([&](Tx& tx) {
    tx.lock_schema();
    other = std::thread([&] {
      database_->write([&](Tx& later) {
        later.lock_schema();
        order.push_back(2);
      });
    });
    wait_until("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", "1");
    order.push_back(1);
  });
  other.join();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(PostgresDatabaseTest, ATransactionThatLosesEveryConnectionIsUnavailable) {
  int runs = 0;
  const auto kind = kind_of([&] {
    database_->write([&](Tx& tx) {
      ++runs;
      terminate(pid_of(tx));
      tx.exec(kInsert, 1);
    });
  });
  EXPECT_EQ(kind, DbError::Kind::unavailable);
  EXPECT_EQ(runs, 6);
  EXPECT_THAT(ids(), ElementsAre());
}

// A commit that waits for a standby which is not there: the end of the wait decides the commit.
class UnconfirmedCommitTest : public PostgresDatabaseTest {
 protected:
  UnconfirmedCommitTest() { standby("nobody"); }
  ~UnconfirmedCommitTest() override { standby(""); }
  void standby(const std::string& name) const {
    server_.run("ALTER SYSTEM SET synchronous_standby_names = '" + name + "'");
    server_.run("SELECT pg_reload_conf()");
    wait_until("SHOW synchronous_standby_names", name);
  }
  // Runs a transaction, ends its commit's wait by the function of the server, and returns the error's kind.
  DbError::Kind interrupted_by(const std::string& function) {
    int runs = 0;
    std::thread interrupter([&] {
      const std::string waiting = " FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
      wait_until("SELECT count(*)" + waiting, "1");
      server_.run("SELECT " + function + "(pid)" + waiting);
    });
    const auto kind = kind_of([&] {
      database_->write([&](Tx& tx) {
        ++runs;
        tx.exec(kInsert, 1);
      });
    });
    interrupter.join();
    EXPECT_EQ(runs, 1) << "it must not run again: it may stand";
    return kind;
  }
};

TEST_F(UnconfirmedCommitTest, AConnectionLostDuringTheCommitLeavesItUnknown) {
  EXPECT_EQ(interrupted_by("pg_terminate_backend"), DbError::Kind::unavailable);
  EXPECT_THAT(ids(), ElementsAre(1)) << "it stands here, as it may";
}

TEST_F(UnconfirmedCommitTest, ACommitThatNoStandbyHasIsNoSuccess) {
  EXPECT_EQ(interrupted_by("pg_cancel_backend"), DbError::Kind::unavailable);
}

TEST_F(UnconfirmedCommitTest, CommitsThatWereGivenUpDoNotPileUpInTheServer) {
  PostgresOptions hasty = options();
  hasty.statement_timeout = Millis{1'000};
  const auto database = open(hasty);
  for (int id = 1; id <= 3; ++id) {
    EXPECT_EQ(kind_of([&] { database->write([&](Tx& tx) { tx.exec(kInsert, id); }); }),
              DbError::Kind::unavailable);
  }
  wait_until("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1");
  standby("");
  database->write([&](Tx& tx) { tx.exec(kInsert, 4); });
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3, 4)) << "as they may";
}

TEST_F(PostgresDatabaseTest, AServerThatTurnedReadOnlyIsLeftForAnother) {
  int runs = 0;
  database_->write([&](Tx& tx) {
    if (++runs == 1)
      tx.exec_script("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET TRANSACTION READ ONLY;");
    tx.exec(kInsert, 1);
  });
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_F(PostgresDatabaseTest, OfADeadlockOneGivesWayAndRunsAgain) {
  server_.run("INSERT INTO t VALUES(1, 0), (2, 0)");
  std::atomic<int> runs = 0;
  std::latch both{2};
  const auto transfer = [&](int first, int second) {
    int own = 0;
    database_->write([&](Tx& tx) {
      ++runs;
      tx.exec(kAdd, first);
      if (++own == 1) both.arrive_and_wait();
      tx.exec(kAdd, second);
    });
  };
  std::thread other([&] { transfer(2, 1); });
  transfer(1, 2);
  other.join();
  EXPECT_GE(runs, 3);
  EXPECT_EQ(server_.run("SELECT sum(n) FROM t"), "4");
}

TEST_F(PostgresDatabaseTest, RowsThatAnotherCommittedMeanwhileAreSeenByASecondRunAndOnlyOne) {
  int runs = 0;
  database_->write([&](Tx& tx) {
    bool found = false;
    tx.query(kAllIds, [&](const Row&) { found = true; });
    if (++runs == 1) server_.run("INSERT INTO t(id, n) VALUES(1, 0)");
    if (!found) tx.exec(kInsert, 1);
  });
  EXPECT_EQ(runs, 2);
  runs = 0;
  EXPECT_EQ(kind_of([&] {
              database_->write([&](Tx& tx) {
                ++runs;
                tx.exec(kInsert, 1);
              });
            }),
            DbError::Kind::constraint);
  EXPECT_EQ(runs, 2);
}

TEST_F(PostgresDatabaseTest, AStatementOrALockThatTakesTooLongIsBusy) {
  PostgresOptions hasty = options();
  hasty.statement_timeout = Millis{1'000};  // within which it is opened
  const auto impatient = open(hasty);
  EXPECT_EQ(kind_of([&] { impatient->write([](Tx& tx) { tx.exec(Sql{"SELECT pg_sleep(60)"}); }); }),
            DbError::Kind::busy);

  hasty = options();
  hasty.lock_timeout = Millis{1'000};
  const auto waiter = open(hasty);
  database_->write([&](Tx& tx) {
    tx.exec(kInsert, 1);
    EXPECT_EQ(kind_of([&] { waiter->write([](Tx& other) { other.exec(kInsert, 1); }); }),
              DbError::Kind::busy);
  });
  waiter->write([](Tx& tx) { tx.exec(kAdd, 1); });
  EXPECT_EQ(server_.run("SELECT n FROM t"), "1");
}

TEST_F(PostgresDatabaseTest, AMigrationThatWaitsForATableKeepsNobodyWaiting) {
  const auto migrator = open(options());
  PostgresOptions hasty = options();
  hasty.lock_timeout = Millis{5'000};
  const auto reader = open(hasty);
  std::jthread migration;
  database_->write([&](Tx& tx) {
    tx.exec(kInsert, 1);  // so the table is in use until the end of this
    migration = std::jthread([&] {
      migrator->write([](Tx& other) {
        other.lock_schema();
        other.exec_script("ALTER TABLE t ADD COLUMN later BIGINT;");
      });
    });
    wait_until("SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'", "1");
    int rows = -1;
    reader->read([&](Tx& other) {
      rows = 0;
      other.query(kAllIds, [&](const Row&) { ++rows; });
    });
    EXPECT_EQ(rows, 0);
  });
  migration.join();
  EXPECT_EQ(server_.run("SELECT later IS NULL FROM t"), "t");
}

TEST_F(PostgresDatabaseTest, MoreCallersThanConnectionsWaitButNotForEver) {
  PostgresOptions few = options();
  few.writers = 1;
  few.checkout_timeout = Millis{50};
  const auto small = open(few);
  small->write(
      [&](Tx&) { EXPECT_EQ(kind_of([&] { small->write([](Tx&) {}); }), DbError::Kind::unavailable); });
  few.checkout_timeout = Millis{60'000};
  std::binary_semaphore waiting{0};
  few.on_wait = [&] { waiting.release(); };
  const auto patient = open(few);
  bool done = false;
  std::thread other;
  patient->write([&](Tx& tx) {
    other = std::thread([&] {
      try {
        patient->write([](Tx& later) { later.exec(kAdd, 1); });
        done = true;
      } catch (const DbError& e) {
        ADD_FAILURE() << e.what();
      }
    });
    EXPECT_TRUE(waiting.try_acquire_for(std::chrono::seconds{60}));
    tx.exec(kInsert, 1);
  });
  other.join();
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.run("SELECT n FROM t"), "1");
}

TEST_F(PostgresDatabaseTest, AmongSeveralHostsItFindsTheOneThatTakesWrites) {
  // tcp_url() is postgresql://user:password@127.0.0.1:port/name; nothing listens on port 1.
  std::string url = server_.tcp_url();
  url.insert(url.find("127.0.0.1"), "127.0.0.1:1,");
  const auto database = open(testing::patient(url + "?target_session_attrs=read-write"));
  database->write([](Tx& tx) { tx.exec(kInsert, 1); });
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_F(PostgresDatabaseTest, AnErrorOfOpeningDoesNotShowThePassword) {
  const auto message_of = [](const std::string& url) {
    const auto opened = open_postgres({.url = url});
    EXPECT_FALSE(opened);
    return opened ? std::string() : opened.error().code + " " + opened.error().message;
  };
  const std::string away = message_of("postgresql://me:s3cret@127.0.0.1:1/x");
  EXPECT_THAT(away, HasSubstr("STORAGE_UNAVAILABLE"));
  EXPECT_THAT(away, HasSubstr("refused"));
  EXPECT_THAT(away, Not(HasSubstr("s3cret")));
  EXPECT_THAT(message_of("postgresql://me:s3c%ret@127.0.0.1/x"), Not(HasSubstr("s3c")));
  std::string wrong = server_.tcp_url();
  wrong.replace(wrong.find("postgres:") + 9, 4, "nope");
  EXPECT_THAT(message_of(wrong), HasSubstr("password authentication failed"));

  server_.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  std::string latin = server_.url();
  latin.replace(latin.find("/test_"), latin.find('?') - latin.find("/test_"), "/latin");
  EXPECT_THAT(message_of(latin), HasSubstr("not encoded in UTF8"));
  server_.run("DROP DATABASE latin");
}

TEST_F(PostgresDatabaseTest, AStatementForManyRowsIsOfItsKind) {
  const std::vector<Param> flat{Param(1), Param(2)};
  const auto ignore = [](std::size_t, const Row&) {};
  constexpr Sql by_id{"SELECT n FROM t WHERE id = $1"};
  for (const std::function<void(Tx&)>& run : std::vector<std::function<void(Tx&)>>{
           [&](Tx& tx) { tx.insert_each(kAdd, 1, flat); }, [&](Tx& tx) { tx.update_each(kInsert, 1, flat); },
           [&](Tx& tx) { tx.query_each(kInsert, 1, flat, ignore); }}) {
    EXPECT_EQ(kind_of([&] { database_->write(run); }), DbError::Kind::misuse);
  }
  database_->write([&](Tx& tx) {
    tx.insert_each(kInsert, 1, flat);
    EXPECT_EQ(tx.update_each(kAdd, 1, flat), 2);
    tx.query_each(by_id, 1, flat, [](std::size_t, const Row& row) { EXPECT_EQ(row.int64(0), 1); });
  });
}

TEST_F(PostgresDatabaseTest, AnErrorQuotesNoValues) {
  server_.run("INSERT INTO t VALUES(424242, 0)");
  try {
    database_->write([](Tx& tx) { tx.exec(kInsert, 424242); });
    FAIL() << "no DbError";
  } catch (const DbError& e) {
    EXPECT_THAT(e.what(), Not(HasSubstr("424242")));
    EXPECT_THAT(e.what(), HasSubstr("t_pkey"));
  }
}

TEST_F(PostgresDatabaseTest, AStatementWhosePlanNoLongerFitsIsPreparedAnew) {
  constexpr Sql all{"SELECT * FROM t"};
  server_.run("INSERT INTO t VALUES(1, 0)");
  int runs = 0;
  const auto read = [&](Tx& tx) {
    ++runs;
    tx.query(all, [](const Row&) {});
  };
  database_->write(read);
  server_.run("ALTER TABLE t ADD COLUMN more BIGINT");
  database_->write(read);
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace presetbridge::storage
