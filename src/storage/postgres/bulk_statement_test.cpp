#include "storage/postgres/bulk_statement.h"

#include <gtest/gtest.h>

namespace presetbridge::storage::postgres {
namespace {

std::string text_of(const char* sql, int parameters) {
  return bulk_insert(sql, parameters).value().text;
}

TEST(BulkInsertTest, KnowsTheFirstColumn) {
  EXPECT_EQ(bulk_insert("INSERT INTO t ( a1 , b) VALUES ($1, $2)", 2)->first_column, "a1");
  EXPECT_EQ(bulk_insert("INSERT INTO t (a) VALUES ($1)", 1)->first_column, "a");
}

TEST(BulkInsertTest, ValuesBecomeColumnsOfArrays) {
  EXPECT_EQ(text_of("INSERT INTO t (a, b) VALUES ($1, $2)", 2),
            "INSERT INTO t (a, b) SELECT r.p1, r.p2 FROM unnest($1, $2) AS r(p1, p2) ");
  EXPECT_EQ(
      text_of("insert into t(a,b,c,d) values($2, 'it is $1, (x)', 7, $1) on conflict (a) do nothing;", 2),
      "insert into t(a,b,c,d) SELECT r.p2, 'it is $1, (x)', 7, r.p1 FROM unnest($1, $2) AS r(p1, p2) "
      "on conflict (a) do nothing");
  EXPECT_EQ(
      text_of("INSERT INTO t (a, b) VALUES (CAST($1 AS BIGINT), $10)", 10),
      "INSERT INTO t (a, b) SELECT CAST(r.p1 AS BIGINT), r.p10 FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, "
      "$9, $10) AS r(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10) ");
}

TEST(BulkInsertTest, ARowThatIsThereMayGrowByTheNewOne) {
  EXPECT_EQ(
      text_of("INSERT INTO t (a, b, n) VALUES ($1, f() % 8, $2) ON CONFLICT (a, b) DO UPDATE SET n = t.n +"
              " excluded.n",
              2),
      "INSERT INTO t (a, b, n) SELECT r.p1, f() % 8, r.p2 FROM unnest($1, $2) AS r(p1, p2) "
      "ON CONFLICT (a, b) DO UPDATE SET n = t.n + excluded.n");
  EXPECT_FALSE(
      bulk_insert("INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = t.b + excluded.a", 1));
}

TEST(BulkInsertTest, AnotherInsertHasNoSuchForm) {
  for (const char* sql : {
           "UPDATE t SET a = $1 WHERE id = 2",
           "INSERT INTO t (a) SELECT $1 FROM u",
           "INSERT INTO t (a) VALUES ($1), (2)",
           "INSERT INTO t (a) VALUES ($1) RETURNING a",
           "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
           "INSERT INTO t (a) VALUES ((SELECT b FROM u WHERE c = (1 + $1)))",
           "INSERT INTO t (a) VALUES ($1) -- VALUES",
           "WITH x AS (SELECT 1) INSERT INTO t (a) VALUES ($1)",
       }) {
    EXPECT_FALSE(bulk_insert(sql, 1)) << sql;
  }
  EXPECT_FALSE(bulk_insert("INSERT INTO t (a) VALUES (1)", 0));
}

TEST(BulkUpdateTest, TheParametersAreOfARowOfArrays) {
  EXPECT_EQ(bulk_update("UPDATE t SET a = $2, b = b + 1, c = 'where $1' WHERE id = $1 AND v = $3", 3),
            "UPDATE t SET a = r.p2, b = b + 1, c = 'where $1' FROM unnest($1, $2, $3) AS r(p1, p2, p3)"
            " WHERE id = r.p1 AND v = r.p3");
  EXPECT_EQ(bulk_update("update t set a = CASE WHEN b > $2 THEN b ELSE $2 END where id = $1;", 2),
            "update t set a = CASE WHEN b > r.p2 THEN b ELSE r.p2 END FROM unnest($1, $2) AS r(p1, p2)"
            " WHERE id = r.p1");
}

TEST(BulkUpdateTest, AnotherUpdateHasNoSuchForm) {
  for (const char* sql : {
           "DELETE FROM t WHERE id = $1",
           "UPDATE t SET a = $1",
           "UPDATE t SET a = $1 WHERE id = 2 RETURNING a",
           "UPDATE t SET a = u.a FROM u WHERE u.id = $1",
           "UPDATE t SET a = (SELECT b FROM u WHERE u.id = $1) WHERE id = $1",
           "UPDATE t SET a = 2 WHERE id IN (SELECT id FROM u WHERE b = $1)",
           "UPDATE t SET a = $1 WHERE id = 2 -- x",
       }) {
    EXPECT_FALSE(bulk_update(sql, 1)) << sql;
  }
}

TEST(BulkSelectTest, EachRowHasTheNumberOfItsExecution) {
  EXPECT_EQ(bulk_select("SELECT a, 'x $1' FROM t WHERE id = $1 AND b < $2 ORDER BY a LIMIT 3 FOR UPDATE", 2),
            "SELECT q.*, r.n FROM unnest($1, $2) WITH ORDINALITY AS r(p1, p2, n), LATERAL "
            "(SELECT a, 'x $1' FROM t WHERE id = r.p1 AND b < r.p2 ORDER BY a LIMIT 3 FOR UPDATE) AS q");
  for (const char* sql : {"UPDATE t SET a = 1 WHERE id = $1", "WITH x AS (SELECT 1) SELECT $1",
                          "SELECT $1; SELECT $1", "SELECT \"a\" FROM t WHERE id = $1"}) {
    EXPECT_FALSE(bulk_select(sql, 1)) << sql;
  }
}

}  // namespace
}  // namespace presetbridge::storage::postgres
