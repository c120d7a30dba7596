// The SQL that both engines speak (database.h has its rules): checks a statement's text and fills in its tokens.
#pragma once

#include <string>
#include <string_view>

#include "storage/database.h"

namespace presetbridge::storage {

// The text that replaces each token in one engine.
struct Dialect {
  std::string_view bytes;
  std::string_view key;
  std::string_view integer;
  std::string_view table;
  std::string_view clustered;
  std::string_view lock;
  std::string_view for_update;
  std::string_view lane;
  std::string_view postgres;  // "--" where it is not PostgreSQL: the rest of the line is then a comment
  std::string_view sqlite;    // "--" where it is not SQLite
};

struct SqlText {
  std::string text;
  int parameters = 0;  // n of $1..$n
  int statements = 0;
};

// Takes any number of statements. Throws DbError misuse that names the rule which `sql` breaks. Text inside quotes
// and comments is not checked.
SqlText to_dialect(std::string_view sql, const Dialect& dialect);
// As to_dialect(); misuse also for more or less than one statement, which an Sql is.
SqlText to_statement(std::string_view sql, const Dialect& dialect);
// As to_dialect(); misuse also for parameters, which Tx::exec_script() has none of.
SqlText to_script(std::string_view sql, const Dialect& dialect);

// Throws DbError misuse; its message has the rule and the beginning of the statement.
[[noreturn]] void misuse(std::string_view rule, std::string_view sql);

// Throws DbError misuse unless `value` is UTF-8 without U+0000, which is all that PostgreSQL can hold. The
// error does not show the value.
void check_text(std::string_view value);

}  // namespace presetbridge::storage
