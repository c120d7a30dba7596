// The tables of a database, read from the engine's own catalogue: so that code for all tables includes those that a
// later migration makes.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

enum class ColumnType { integer, text, bytes };

struct TableShape {
  struct Column {
    std::string name;
    ColumnType type;
    bool operator==(const Column&) const = default;
  };
  std::string name;
  std::vector<Column> columns;          // as they were declared
  std::vector<std::size_t> key;         // the primary key: indexes in `columns`, in the key's order
  std::vector<std::string> references;  // the tables that its foreign keys name, itself left out; sorted
  bool operator==(const TableShape&) const = default;
};

// All tables, each after those that it refers to, else by name: equal for equal schemas, on either engine.
// Throws DbError misuse for what the rules of database.h do not allow: a column of another type, a table
// without a primary key, foreign keys in a circle.
std::vector<TableShape> read_tables(Tx& tx, std::string_view engine);

}  // namespace presetbridge::storage
