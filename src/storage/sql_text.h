// The SQL that both engines speak (the rules are told in database.h): checks a statement's text and fills in
// its tokens.
#pragma once

#include <string>
#include <string_view>

#include "storage/database.h"

namespace presetbridge::storage {

// What each token stands for in one engine.
struct Dialect {
  std::string_view bytes;
  std::string_view key;
  std::string_view integer;
  std::string_view table;
  std::string_view clustered;
  std::string_view lock;
  std::string_view for_update;
  std::string_view lane;
  std::string_view postgres;  // what makes the rest of a line a comment, where it is not PostgreSQL
  std::string_view sqlite;    // ... where it is not SQLite
};

struct SqlText {
  std::string text;
  int parameters = 0;  // n of $1..$n
  int statements = 0;
};

// Throws DbError misuse that names the rule which `sql` breaks. Text inside quotes and comments is not
// judged.
SqlText to_dialect(std::string_view sql, const Dialect& dialect);
// The same for an Sql, which is one statement.
SqlText to_statement(std::string_view sql, const Dialect& dialect);

// Throws DbError misuse unless `value` is UTF-8 without U+0000, which is what PostgreSQL can hold. Never
// shows the value.
void check_text(std::string_view value);

}  // namespace presetbridge::storage
