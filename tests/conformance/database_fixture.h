// A database with two tables, for the tests of the rules of storage/database.h.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine.h"
#include "storage/database.h"

namespace presetbridge::storage::conformance {

inline constexpr std::string_view schema = R"sql(
CREATE TABLE thing(
  id <int> NOT NULL PRIMARY KEY,
  name <key> UNIQUE,
  body <bytes>,
  count <int> NOT NULL DEFAULT 0 CHECK (count >= 0)
) <table>;
CREATE TABLE part(  -- a comment; with a semicolon
  thing_id <int> NOT NULL REFERENCES thing(id) DEFERRABLE INITIALLY DEFERRED,
  label <key> NOT NULL,
  PRIMARY KEY(thing_id, label)
) <clustered>;
)sql";

inline constexpr Sql insert{"INSERT INTO thing(id, name, body, count) VALUES($1, $2, $3, $4)"};
inline constexpr Sql insert_part{"INSERT INTO part(thing_id, label) VALUES($1, $2)"};
inline constexpr Sql by_id{"SELECT id, name, body, count FROM thing WHERE id = $1"};
inline constexpr Sql all_ids{"SELECT id FROM thing ORDER BY id"};
inline constexpr Sql add_count{"UPDATE thing SET count = count + $2 WHERE id = $1"};

inline Blob blob(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string text_of(Blob bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class DatabaseTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  DatabaseTest() {
    database_->write([](Tx& tx) { tx.exec_script(schema); });
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> found;
    database_->read([&](Tx& tx) {
      found.clear();
      tx.query(all_ids, [&](const Row& row) { found.push_back(row.int64(0)); });
    });
    return found;
  }

  // The kind and text of the DbError that leaves a transaction of `fn`.
  std::pair<DbError::Kind, std::string> error_of(const TxFn& fn) {
    try {
      database_->write(fn);
    } catch (const DbError& e) {
      return {e.kind(), e.what()};
    }
    ADD_FAILURE() << "no DbError";
    return {};
  }

  void expect_misuse(const Sql& sql, const std::string& rule) {
    const auto [kind, message] = error_of([&](Tx& tx) { tx.exec_params(sql, {}); });
    EXPECT_EQ(kind, DbError::Kind::misuse) << sql.text;
    EXPECT_THAT(message, ::testing::HasSubstr(rule)) << sql.text;
  }

  std::unique_ptr<Engine> engine_ = GetParam().make();
  std::unique_ptr<Database> database_ = engine_->open();
};

}  // namespace presetbridge::storage::conformance
