// Statements for many rows, and wake-ups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "database_fixture.h"

namespace presetbridge::storage::conformance {
namespace {

using ::testing::ElementsAre;

class BulkTest : public DatabaseTest {};
INSTANTIATE_TEST_SUITE_P(Engines, BulkTest, ::testing::ValuesIn(all_engines()),
                         [](const auto& info) { return engine_name(info); });

TEST_P(BulkTest, ExecManyRunsOncePerGroupOfParameters) {
  std::vector<Param> flat;
  std::vector<std::string> names;
  for (int id = 0; id < 300; ++id) names.push_back("n" + std::to_string(id));
  for (int id = 0; id < 300; ++id) {
    flat.insert(flat.end(),
                {Param(id), Param(names[static_cast<std::size_t>(id)]), Param(nullptr), Param(id)});
  }
  database_->write([&](Tx& tx) {
    tx.exec_many(insert, 4, flat);
    tx.exec_many(insert, 4, {});
  });
  EXPECT_EQ(ids().size(), 300U);
  database_->read([&](Tx& tx) {
    EXPECT_EQ(tx.one(by_id, 299, [](const Row& row) { return row.string(1); }),
              std::optional<std::string>("n299"));
  });
  const auto [kind, message] = error_of([&](Tx& tx) { tx.exec_many(insert, 4, std::span(flat).first(6)); });
  EXPECT_EQ(kind, DbError::Kind::misuse);
}

TEST_P(BulkTest, ExecManyIsTheSameForAnyNumberOfRows) {
  constexpr Sql insert_new{
      "INSERT INTO thing(id, name, body, count) VALUES ($1, $2, $3, 7) ON CONFLICT (id) DO NOTHING"};
  constexpr Sql odd{"SELECT COUNT(*), COUNT(name), CAST(SUM(count) AS BIGINT) FROM thing"};
  for (const int rows : {1, 2, 3, 4, 5, 255, 256, 257, 600}) {
    std::vector<std::string> names;
    for (int id = 0; id < rows; ++id) names.push_back("Zoë, \"{NULL}\" " + std::to_string(id));
    std::vector<Param> flat;
    for (int id = 0; id < rows; ++id) {
      const std::string& name = names[static_cast<std::size_t>(id)];
      flat.insert(flat.end(), {Param(id), id % 2 == 0 ? Param(nullptr) : Param(name), Param(blob(name))});
    }
    flat.insert(flat.end(), {Param(0), Param("again"), Param(nullptr)});  // is there already
    std::vector<Param> added;
    for (int id = 0; id < rows; ++id) added.insert(added.end(), {Param(id), Param(id)});
    const auto [kind, message] = error_of([&](Tx& tx) {
      tx.exec_many(insert_new, 3, flat);
      tx.exec_many(add_count, 2, added);
      tx.query(odd, [&](const Row& row) {
        EXPECT_EQ(row.int64(0), rows);
        EXPECT_EQ(row.int64(1), rows / 2);
        EXPECT_EQ(row.int64(2), 7 * rows + rows * (rows - 1) / 2);
      });
      tx.query(by_id, rows - 1, [&](const Row& row) {
        EXPECT_EQ(row.is_null(1), rows % 2 == 1);
        EXPECT_EQ(text_of(row.bytes(2)), names.back());
      });
      throw DbError(DbError::Kind::unavailable, "enough");
    });
    EXPECT_EQ(message, "enough");
    EXPECT_THAT(ids(), ElementsAre());
  }
}

TEST_P(BulkTest, InsertEachReturnsWhichRowsAreNew) {
  constexpr Sql insert_new{
      "INSERT INTO thing (id, name, count) VALUES ($1, $2, 7) ON CONFLICT (name) DO NOTHING"};
  for (const int rows : {1, 3, 4, 40, 256, 257, 600}) {
    std::vector<std::string> names;
    for (int id = 0; id < rows; ++id) names.push_back("n" + std::to_string(id));
    std::vector<Param> flat;
    std::vector<bool> expected;
    for (int id = 0; id < rows; ++id) {
      flat.insert(flat.end(), {Param(id), Param(names[static_cast<std::size_t>(id)])});
      expected.push_back(id % 3 != 0);  // the others are there already
      if (id % 4 != 0) continue;
      flat.insert(flat.end(), {Param(1'000 + id), Param(names[static_cast<std::size_t>(id)])});
      expected.push_back(false);
    }
    const auto [kind, message] = error_of([&](Tx& tx) {
      for (int id = 0; id < rows; id += 3)
        tx.exec(insert, 2'000 + id, names[static_cast<std::size_t>(id)], nullptr, 0);
      EXPECT_EQ(tx.insert_each(insert_new, 2, flat), expected);
      EXPECT_EQ(tx.insert_each(insert_new, 2, flat), std::vector<bool>(expected.size(), false));
      EXPECT_THAT(tx.insert_each(insert_new, 2, {}), ElementsAre());
      throw DbError(DbError::Kind::unavailable, "enough");
    });
    EXPECT_EQ(message, "enough");
  }
}

TEST_P(BulkTest, UpdateEachCountsTheRowsThatItChanged) {
  constexpr Sql rename{"UPDATE thing SET name = $2, count = count + 1 WHERE id = $1 AND count = $3"};
  for (const int rows : {1, 2, 4, 40, 256, 257, 600}) {
    const auto [kind, message] = error_of([&](Tx& tx) {
      std::vector<std::string> names;
      for (int id = 0; id < rows; ++id) {
        tx.exec(insert, id, nullptr, nullptr, id % 3);
        names.push_back("n" + std::to_string(id));
      }
      std::vector<Param> flat;
      std::int64_t expected = 0;
      for (int id = 0; id < rows; ++id) {
        const bool named = id % 5 != 0;
        flat.insert(
            flat.end(),
            {Param(id), named ? Param(names[static_cast<std::size_t>(id)]) : Param(nullptr), Param(1)});
        expected += id % 3 == 1 ? 1 : 0;
      }
      EXPECT_EQ(tx.update_each(rename, 3, flat), expected);
      EXPECT_EQ(tx.update_each(rename, 3, flat), 0);
      EXPECT_EQ(tx.update_each(rename, 3, {}), 0);
      for (int id = 0; id < rows; ++id) {
        tx.query(by_id, id, [&](const Row& row) {
          EXPECT_EQ(row.int64(3), id % 3 == 1 ? 2 : id % 3);
          EXPECT_EQ(row.string_or_empty(1),
                    id % 3 == 1 && id % 5 != 0 ? names[static_cast<std::size_t>(id)] : "");
        });
      }
      throw DbError(DbError::Kind::unavailable, "enough");
    });
    EXPECT_EQ(message, "enough");
  }
}

TEST_P(BulkTest, QueryEachReturnsWhoseARowIs) {
  constexpr Sql parts{
      "SELECT label, $2 FROM part WHERE thing_id = $1 AND label < 'c $1' ORDER BY label DESC LIMIT 2 "
      "<for_update>"};
  for (const std::int64_t rows : {1, 2, 4, 40, 256, 257, 600}) {
    std::vector<std::string> found;
    std::vector<std::string> expected;
    database_->write([&](Tx& tx) {
      found.clear();
      expected.clear();
      tx.exec_script("DELETE FROM part; DELETE FROM thing;");
      std::vector<Param> flat;
      for (std::int64_t id = 0; id < rows; ++id) {
        tx.exec(insert, id, nullptr, nullptr, 0);
        // The last comes first: it is locked first, too.
        flat.insert(flat.end(), {Param(rows - 1 - id), Param(id)});
      }
      for (std::int64_t id = 0; id < rows; ++id) {
        const std::int64_t thing = rows - 1 - id;
        if (thing % 3 == 0) continue;
        for (const char* label : {"a", "b", "c", "d"}) tx.exec(insert_part, thing, label);
        for (const char* label : {"c", "b"})
          expected.push_back(std::to_string(id) + label + std::to_string(id));
      }
      tx.query_each(parts, 2, flat, [&](std::size_t number, const Row& row) {
        found.push_back(std::to_string(number) + row.string(0) + std::to_string(row.int64(1)));
      });
      tx.query_each(parts, 2, {}, [&](std::size_t, const Row&) { ADD_FAILURE(); });
    });
    EXPECT_EQ(found, expected);
  }
}

TEST_P(BulkTest, WakesRowsLastInOneOrderAndOnceEach) {
  constexpr Wake early{1, {"UPDATE thing SET count = 10 * count + 1 WHERE id = $1 AND $2 = 6"}};
  constexpr Wake late{2, {"UPDATE thing SET count = 10 * count + 2 WHERE id = $1 AND $2 = 5"}};
  database_->write([&](Tx& tx) {
    tx.wake(late, Id<struct ThingKind>{3}, {from_unix_ms(5)});
    tx.wake(early, Id<struct ThingKind>{3}, {from_unix_ms(7)});
    tx.wake(early, Id<struct ThingKind>{3}, {from_unix_ms(6)});
    tx.exec(insert, 3, "a", nullptr, 4);  // is there by then
  });
  database_->read([&](Tx& tx) {
    EXPECT_EQ(tx.one(by_id, 3, [](const Row& row) { return row.int64(3); }),
              std::optional<std::int64_t>(412));
  });
}

TEST_P(BulkTest, ARowAtFaultFailsTheWholeOfExecMany) {
  for (const int rows : {2, 40}) {
    std::vector<Param> doubled;
    std::vector<Param> broken;
    std::vector<Param> negative;
    for (int id = 0; id < rows; ++id) {
      doubled.insert(doubled.end(), {Param(id / 2), Param(nullptr), Param(nullptr), Param(0)});
      broken.insert(broken.end(), {Param(id), Param(id == 1 ? "\xff" : "ok"), Param(nullptr), Param(0)});
      negative.insert(negative.end(), {Param(1'000), Param(id == 1 ? -1'000 : 1)});
    }
    EXPECT_EQ(error_of([&](Tx& tx) { tx.exec_many(insert, 4, doubled); }).first, DbError::Kind::constraint);
    EXPECT_EQ(error_of([&](Tx& tx) { tx.exec_many(insert, 4, broken); }).first, DbError::Kind::misuse);
    EXPECT_EQ(error_of([&](Tx& tx) {
                tx.exec(insert, 1'000, nullptr, nullptr, 0);
                tx.exec_many(add_count, 2, negative);
              }).first,
              DbError::Kind::constraint);
    EXPECT_THAT(ids(), ElementsAre());
  }
}

}  // namespace
}  // namespace presetbridge::storage::conformance
