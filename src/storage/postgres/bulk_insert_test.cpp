#include "storage/postgres/bulk_insert.h"

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

TEST(BulkInsertTest, WhatIsNoPlainInsertIsLeftAlone) {
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

}  // namespace
}  // namespace presetbridge::storage::postgres
