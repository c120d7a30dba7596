#include "storage/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "database_fixture.h"

namespace presetbridge::storage::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Engines, DatabaseTest, ::testing::ValuesIn(all_engines()),
                         [](const auto& info) { return engine_name(info); });

TEST_P(DatabaseTest, EveryTypeComesBackAsItWasWritten) {
  const std::string unicode = "Zoë 🎛️ \u200B'\"\\%_$1";
  const std::string zeros("\0a\0\xff\0", 5);
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  database_->write([&](Tx& tx) {
    EXPECT_EQ(tx.exec(insert, highest, unicode, blob(zeros), highest), 1);
    EXPECT_EQ(tx.exec(insert, lowest, std::string_view(), Blob(), 0), 1);
    EXPECT_EQ(tx.exec(insert, 0, nullptr, std::optional<Blob>(), true), 1);
  });
  database_->read([&](Tx& tx) {
    int rows = 0;
    tx.query(by_id, highest, [&](const Row& row) {
      ++rows;
      EXPECT_EQ(row.int64(0), highest);
      EXPECT_EQ(row.text(1), unicode);
      EXPECT_EQ(text_of(row.bytes(2)), zeros);
      EXPECT_EQ(row.int64(3), highest);
      EXPECT_FALSE(row.is_null(1));
    });
    tx.query(by_id, lowest, [&](const Row& row) {
      ++rows;
      EXPECT_EQ(row.int64(0), lowest);
      EXPECT_FALSE(row.is_null(1));
      EXPECT_FALSE(row.is_null(2)) << "no bytes are not NULL";
      EXPECT_TRUE(row.bytes(2).empty());
    });
    tx.query(by_id, 0, [&](const Row& row) {
      ++rows;
      EXPECT_TRUE(row.is_null(1));
      EXPECT_TRUE(row.is_null(2));
      EXPECT_TRUE(row.is_null(1));
      EXPECT_TRUE(row.flag(3));
    });
    EXPECT_EQ(rows, 3);
  });
}

TEST_P(DatabaseTest, ParametersGoByNumberWhateverTheirOrderInTheText) {
  constexpr Sql swapped{"INSERT INTO thing(name, id, count) VALUES($2, $1, 0)"};
  constexpr Sql twice{"SELECT id FROM thing WHERE (id = $2 OR id = $2 + 1) AND count < $1 AND id <> $2"};
  database_->write([&](Tx& tx) {
    tx.exec(swapped, 7, "seven");
    tx.exec(swapped, 8, "eight");
    EXPECT_EQ(tx.one(twice, 5, 7, [](const Row& row) { return row.int64(0); }),
              std::optional<std::int64_t>(8));
  });
}

TEST_P(DatabaseTest, KeysSortByCodePoint) {
  constexpr Sql by_name{"SELECT name FROM thing ORDER BY name"};
  std::vector<std::string> names;
  database_->write([&](Tx& tx) {
    int id = 0;
    for (const char* name : {"b", "ä", "B", "a", "_", "😀", "Z"}) tx.exec(insert, ++id, name, nullptr, 0);
    tx.query(by_name, [&](const Row& row) { names.push_back(row.string(0)); });
  });
  EXPECT_THAT(names, ElementsAre("B", "Z", "_", "a", "b", "ä", "😀"));
}

TEST_P(DatabaseTest, ExecCountsTheRowsItChanges) {
  constexpr Sql all{"UPDATE thing SET count = count + 1 WHERE id >= $1"};
  database_->write([&](Tx& tx) {
    for (int id = 1; id <= 5; ++id) tx.exec(insert, id, nullptr, nullptr, 0);
    EXPECT_EQ(tx.exec(all, 3), 3);
    EXPECT_EQ(tx.exec(all, 6), 0);
  });
}

TEST_P(DatabaseTest, AnyExceptionRollsBackAndIsRethrown) {
  struct Mine {
    int value;
  };
  try {
    database_->write([](Tx& tx) {
      tx.exec(insert, 1, "a", nullptr, 0);
      throw Mine{42};
    });
    FAIL() << "nothing was thrown";
  } catch (const Mine& mine) {
    EXPECT_EQ(mine.value, 42);
  }
  EXPECT_THAT(ids(), ElementsAre());
  database_->write([](Tx& tx) { tx.exec(insert, 1, "a", nullptr, 0); });
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_P(DatabaseTest, AnExceptionInARowCallbackLeavesNothingBehind) {
  database_->write([](Tx& tx) {
    for (int id = 1; id <= 3; ++id) tx.exec(insert, id, nullptr, nullptr, 0);
  });
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(database_->write([](Tx& tx) {
      tx.exec(insert, 9, nullptr, nullptr, 0);
      tx.query(all_ids, [](const Row&) { throw std::runtime_error("mine"); });
    }),
                 std::runtime_error);
    EXPECT_THROW(database_->read(
                     [](Tx& tx) { tx.query(all_ids, [](const Row&) { throw std::runtime_error("mine"); }); }),
                 std::runtime_error);
  }
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3));
}

TEST_P(DatabaseTest, ARowCallbackMayQueryAndWrite) {
  std::vector<std::string> seen;
  database_->write([&](Tx& tx) {
    for (int id = 1; id <= 3; ++id) tx.exec(insert, id, std::to_string(id), nullptr, 0);
    tx.query(all_ids, [&](const Row& row) {
      tx.exec(add_count, row.int64(0), 10);
      tx.query(by_id, row.int64(0), [&](const Row& inner) {
        seen.push_back(inner.string(1) + ":" + std::to_string(inner.int64(3)) + ":" +
                       std::to_string(row.int64(0)));
      });
    });
  });
  EXPECT_THAT(seen, ElementsAre("1:10:1", "2:10:2", "3:10:3"));
}

TEST_P(DatabaseTest, AStatementInsideItsOwnCallbackIsRefused) {
  const auto [kind, message] = error_of([](Tx& tx) {
    tx.exec(insert, 1, nullptr, nullptr, 0);
    tx.query(all_ids, [&](const Row&) { tx.query(all_ids, [](const Row&) {}); });
  });
  EXPECT_EQ(kind, DbError::Kind::misuse);
  EXPECT_THAT(message, HasSubstr("inside its own row callback"));
}
TEST_P(DatabaseTest, IntegersAreWholeWhateverTheyAreComparedWith) {
  constexpr Sql filter{"SELECT id FROM thing WHERE ($1 = 0 OR id = $1) AND ($2 = '' OR name = $2)"};
  constexpr Sql maybe{"SELECT id FROM thing WHERE COALESCE($1, 0) = 0 OR id = $1"};
  constexpr auto big = std::numeric_limits<std::int64_t>::max();
  const auto id_of = [](const Row& row) { return row.int64(0); };
  database_->write([&](Tx& tx) {
    tx.exec(insert, big, "a", nullptr, 0);
    EXPECT_EQ(tx.one(filter, big, "", id_of), std::optional(big));
    EXPECT_EQ(tx.one(filter, 0, "a", id_of), std::optional(big));
    EXPECT_EQ(tx.one(filter, big - 1, "a", id_of), std::nullopt);
    EXPECT_EQ(tx.one(maybe, nullptr, id_of), std::optional(big));
    EXPECT_EQ(tx.one(maybe, big, id_of), std::optional(big));
    EXPECT_EQ(tx.one(maybe, big - 1, id_of), std::nullopt);
  });
}

TEST_P(DatabaseTest, AConditionAsAColumnIsAFlag) {
  constexpr Sql conditions{"SELECT id > 5, 1 = 1, 3 FROM thing"};
  database_->write([&](Tx& tx) {
    tx.exec(insert, 4, nullptr, nullptr, 0);
    tx.query(conditions, [](const Row& row) {
      EXPECT_FALSE(row.flag(0));
      EXPECT_TRUE(row.flag(1));
      EXPECT_EQ(row.int64(2), 3);
    });
  });
}

TEST_P(DatabaseTest, ReturningGivesARowForEachOneWritten) {
  constexpr Sql raise{"UPDATE thing SET count = count + $1 WHERE count < 100 RETURNING id, count"};
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  database_->write([&](Tx& tx) {
    tx.exec(insert, 1, nullptr, nullptr, 5);
    tx.exec(insert, 2, nullptr, nullptr, 500);
    tx.exec(insert, 3, nullptr, nullptr, 7);
    tx.query(raise, 1, [&](const Row& row) { rows.emplace_back(row.int64(0), row.int64(1)); });
  });
  std::ranges::sort(rows);
  EXPECT_THAT(rows, ElementsAre(std::pair(1, 6), std::pair(3, 8)));
}

TEST_P(DatabaseTest, AConflictReturnsTheIdThatWasThereFirst) {
  constexpr Sql accept{
      "INSERT INTO thing(id, name, count) VALUES($1, $2, 0) ON CONFLICT(name) DO UPDATE SET name = "
      "excluded.name "
      "RETURNING id"};
  const auto id_of = [](const Row& row) { return row.int64(0); };
  database_->write([&](Tx& tx) {
    EXPECT_EQ(tx.one(accept, 10, "order", id_of), std::optional<std::int64_t>(10));
    EXPECT_EQ(tx.one(accept, 11, "order", id_of), std::optional<std::int64_t>(10));
    EXPECT_EQ(tx.one(accept, 12, "other", id_of), std::optional<std::int64_t>(12));
  });
}

TEST_P(DatabaseTest, AClaimTakesTheFirstRowsOnce) {
  constexpr Sql claim{
      "WITH c AS MATERIALIZED (SELECT id FROM thing WHERE count = 0 ORDER BY id LIMIT $1 <lock>) "
      "UPDATE thing SET count = 1 WHERE id IN (SELECT id FROM c) RETURNING id"};
  constexpr Sql locked{"SELECT count FROM thing WHERE id = $1 <for_update>"};
  const auto claimed = [&](int limit) {
    std::vector<std::int64_t> got;
    database_->write([&](Tx& tx) {
      got.clear();
      tx.query(claim, limit, [&](const Row& row) { got.push_back(row.int64(0)); });
    });
    std::ranges::sort(got);
    return got;
  };
  database_->write([&](Tx& tx) {
    for (int id = 1; id <= 5; ++id) tx.exec(insert, id, nullptr, nullptr, 0);
    EXPECT_EQ(tx.one(locked, 3, [](const Row& row) { return row.int64(0); }), std::optional<std::int64_t>(0));
  });
  EXPECT_THAT(claimed(2), ElementsAre(1, 2));
  EXPECT_THAT(claimed(2), ElementsAre(3, 4));
  EXPECT_THAT(claimed(2), ElementsAre(5));
  EXPECT_THAT(claimed(2), ElementsAre());
}

TEST_P(DatabaseTest, CastsAndSumsAreBigint) {
  constexpr Sql sum{"SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT), CAST($1 AS BIGINT) FROM thing"};
  database_->write([&](Tx& tx) {
    tx.exec(insert, 1, nullptr, nullptr, 5'000'000'000);
    tx.exec(insert, 2, nullptr, nullptr, 5'000'000'000);
    tx.query(sum, 3, [](const Row& row) {
      EXPECT_EQ(row.int64(0), 10'000'000'000);
      EXPECT_EQ(row.int64(1), 3);
    });
  });
}

TEST_P(DatabaseTest, NowStandsStillWithinATransaction) {
  database_->write([](Tx& tx) {
    const Timestamp first = tx.now();
    tx.exec(insert, 1, nullptr, nullptr, tx.now());
    EXPECT_EQ(tx.now(), first);
    tx.query(by_id, 1, [&](const Row& row) { EXPECT_EQ(row.time(3), first); });
  });
}

TEST_P(DatabaseTest, BrokenConstraintsAreToldAsSuch) {
  database_->write([](Tx& tx) { tx.exec(insert, 1, "a", nullptr, 0); });
  const std::vector<TxFn> violations{
      [](Tx& tx) { tx.exec(insert, 1, "b", nullptr, 0); },        // primary key
      [](Tx& tx) { tx.exec(insert, 2, "a", nullptr, 0); },        // unique
      [](Tx& tx) { tx.exec(insert, 2, "b", nullptr, -1); },       // check
      [](Tx& tx) { tx.exec(insert, 2, "b", nullptr, nullptr); },  // not null
      [](Tx& tx) { tx.exec(insert_part, 99, "x"); },              // foreign key, at the commit
  };
  for (const TxFn& violation : violations) EXPECT_EQ(error_of(violation).first, DbError::Kind::constraint);
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_P(DatabaseTest, AColumnTakesNoOtherTypeThanItsOwn) {
  const std::vector<TxFn> wrong{
      [](Tx& tx) { tx.exec(insert, "one", nullptr, nullptr, 0); },
      [](Tx& tx) { tx.exec(insert, 1, nullptr, "text", 0); },
      [](Tx& tx) { tx.exec(insert, 1, nullptr, nullptr, blob("x")); },
      [](Tx& tx) { tx.exec(insert, 1, blob("name"), nullptr, 0); },
  };
  for (const TxFn& fn : wrong) {
    const auto kind = error_of(fn).first;
    EXPECT_TRUE(kind == DbError::Kind::constraint || kind == DbError::Kind::misuse);
  }
  EXPECT_THAT(ids(), ElementsAre());
}

TEST_P(DatabaseTest, AFailedStatementSpoilsItsTransactionEvenWhenCaught) {
  database_->write([](Tx& tx) { tx.exec(insert, 1, "a", nullptr, 0); });
  const auto [kind, message] = error_of([](Tx& tx) {
    tx.exec(insert, 2, "b", nullptr, 0);
    EXPECT_THROW(tx.exec(insert, 1, "c", nullptr, 0), DbError);
    EXPECT_THROW(tx.query(all_ids, [](const Row&) {}), DbError);
  });
  EXPECT_EQ(kind, DbError::Kind::constraint);
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_P(DatabaseTest, ReadingAColumnAsWhatItIsNotIsMisuse) {
  const std::vector<std::function<void(const Row&)>> wrong{
      [](const Row& row) { row.text(0); },  [](const Row& row) { row.int64(1); },
      [](const Row& row) { row.bytes(1); }, [](const Row& row) { row.text(2); },
      [](const Row& row) { row.int64(4); }, [](const Row& row) { row.int64(-1); },
      [](const Row& row) { row.bytes(2); },  // NULL
  };
  for (const auto& read : wrong) {
    EXPECT_EQ(error_of([&](Tx& tx) {
                tx.exec(insert, 1, "a", nullptr, 0);
                tx.query(by_id, 1, read);
              }).first,
              DbError::Kind::misuse);
  }
}

TEST_P(DatabaseTest, SqlThatBreaksARuleIsRefused) {
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = ?"}, "$1..$n");
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = :id"}, "$1..$n");
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = @id"}, "$1..$n");
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = $id"}, "$1..$n");
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = $0"}, "$1..$n");
  expect_misuse(Sql{"SELECT id FROM thing WHERE id = $2"}, "$1 is not");
  expect_misuse(Sql{"SELECT id::bigint FROM thing"}, "never ::");
  expect_misuse(Sql{"SELECT json_extract(name, 'x') FROM thing"}, "JSON");
  expect_misuse(Sql{"SELECT name->>'x' FROM thing"}, "JSON");
  expect_misuse(Sql{"SELECT id FROM thing WHERE name LIKE 'a%'"}, "LIKE");
  expect_misuse(Sql{"SELECT id FROM thing WHERE name ilike 'a%'"}, "LIKE");
  expect_misuse(Sql{"SELECT lower(name) FROM thing"}, "lower()");
  expect_misuse(Sql{"SELECT UPPER (name) FROM thing"}, "lower()");
  expect_misuse(Sql{"UPDATE thing AS t SET count = 1"}, "no alias");
  expect_misuse(Sql{"UPDATE thing t SET count = 1"}, "no alias");
  expect_misuse(Sql{"SELECT <blob> FROM thing"}, "<blob> is no token");
  expect_misuse(Sql{"SELECT id FROM thing; SELECT 1"}, "one statement");
  expect_misuse(Sql{"SELECT id FROM nowhere"}, "nowhere");
  expect_misuse(Sql{"SELEC id FROM thing"}, "SELEC");
  expect_misuse(Sql{""}, "");
}

TEST_P(DatabaseTest, QuotedTextAndCommentsAreNotJudged) {
  constexpr Sql harmless{
      "SELECT id, 'a::b ? :x LIKE lower(x) ''json(' AS \"like\" /* $9 -> */ FROM thing -- x::y $7\n WHERE id "
      "= $1"};
  database_->write([&](Tx& tx) {
    tx.exec(insert, 1, nullptr, nullptr, 0);
    EXPECT_EQ(tx.one(harmless, 1, [](const Row& row) { return row.string(1); }),
              std::optional<std::string>("a::b ? :x LIKE lower(x) 'json("));
  });
}

TEST_P(DatabaseTest, TheNumberOfParametersMustFit) {
  EXPECT_EQ(error_of([](Tx& tx) { tx.exec(insert, 1, "a"); }).first, DbError::Kind::misuse);
  EXPECT_EQ(error_of([](Tx& tx) { tx.exec(insert, 1, "a", nullptr, 0, 5); }).first, DbError::Kind::misuse);
  EXPECT_EQ(error_of([](Tx& tx) { tx.exec_script("SELECT $1;"); }).first, DbError::Kind::misuse);
}

TEST_P(DatabaseTest, TextThatPostgresCannotHoldIsRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view bad :
       {"a\0b"sv, "\xff"sv, "\xc0\xaf"sv, "\xed\xa0\x80"sv, "\xf5\x80\x80\x80"sv, "\xe2\x82"sv}) {
    EXPECT_EQ(error_of([&](Tx& tx) { tx.exec(insert, 1, bad, nullptr, 0); }).first, DbError::Kind::misuse);
  }
  EXPECT_THAT(ids(), ElementsAre());
}

TEST_P(DatabaseTest, AReadCannotWrite) {
  EXPECT_THROW(database_->read([](Tx& tx) { tx.exec(insert, 1, nullptr, nullptr, 0); }), DbError);
  EXPECT_THAT(ids(), ElementsAre());
}

TEST_P(DatabaseTest, AReadSeesOneMomentWhileOthersWrite) {
  database_->write([](Tx& tx) { tx.exec(insert, 1, nullptr, nullptr, 0); });
  constexpr Sql count{"SELECT COUNT(*) FROM thing"};
  const auto number = [](const Row& row) { return row.int64(0); };
  database_->read([&](Tx& tx) {
    EXPECT_EQ(tx.one(count, number), std::optional<std::int64_t>(1));
    std::thread([&] {
      database_->write([](Tx& other) { other.exec(insert, 2, nullptr, nullptr, 0); });
    }).join();
    EXPECT_EQ(tx.one(count, number), std::optional<std::int64_t>(1));
  });
  EXPECT_THAT(ids(), ElementsAre(1, 2));
}

TEST_P(DatabaseTest, AnUncommittedRowIsInvisible) {
  database_->write([&](Tx& tx) {
    tx.exec(insert, 1, nullptr, nullptr, 0);
    std::thread([&] { EXPECT_THAT(ids(), ElementsAre()); }).join();
  });
  EXPECT_THAT(ids(), ElementsAre(1));
}

TEST_P(DatabaseTest, ManyThreadsLoseNoUpdate) {
  database_->write([](Tx& tx) { tx.exec(insert, 1, nullptr, nullptr, 0); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        database_->write([](Tx& tx) { tx.exec(add_count, 1, 1); });
        EXPECT_EQ(ids().size(), 1U);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  database_->read([](Tx& tx) {
    EXPECT_EQ(tx.one(by_id, 1, [](const Row& row) { return row.int64(3); }),
              std::optional<std::int64_t>(100));
  });
}

TEST_P(DatabaseTest, AScriptIsAllOrNothing) {
  EXPECT_THROW(database_->write([](Tx& tx) {
    tx.exec_script(
        "CREATE TABLE other(id <int> NOT NULL PRIMARY KEY) <table>;\nINSERT INTO nowhere VALUES(1);");
  }),
               DbError);
  EXPECT_THROW(database_->read([](Tx& tx) { tx.exec(Sql{"SELECT id FROM other"}); }), DbError);
}

TEST_P(DatabaseTest, StatementsSurviveAChangeOfTheSchema) {
  database_->write([](Tx& tx) { tx.exec(insert, 1, "a", nullptr, 0); });
  EXPECT_THAT(ids(), ElementsAre(1));
  database_->write([](Tx& tx) { tx.exec_script("ALTER TABLE thing ADD COLUMN extra <int>;"); });
  database_->write([](Tx& tx) { tx.exec(insert, 2, "b", nullptr, 0); });
  EXPECT_THAT(ids(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace presetbridge::storage::conformance
