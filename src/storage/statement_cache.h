// The prepared statements of a connection, of either engine, and the rules of their use.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <unordered_map>

#include "storage/database.h"
#include "storage/sql_text.h"

namespace presetbridge::storage {

// The part of a prepared statement that both engines have.
struct PreparedStatement {
  std::string source;  // the text of the Sql
  std::size_t parameters = 0;
  bool in_use = false;
};

// Holds a statement while it runs and its rows are read. Throws DbError misuse where it is held already: its
// row callback runs it again.
class StatementUse {
 public:
  explicit StatementUse(PreparedStatement& statement) : statement_(statement) {
    if (statement.in_use) misuse("a statement runs inside its own row callback", statement.source);
    statement.in_use = true;
  }
  ~StatementUse() { statement_.in_use = false; }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;

 private:
  PreparedStatement& statement_;
};

// `Statement` is a PreparedStatement.
template <class Statement>
class StatementCache {
 public:
  // The statement of `sql`; one that is new is what `make` returns for the text in `dialect`. Throws DbError
  // misuse where the statement does not have `parameters` of them, or where the text is not static.
  template <class Make>
  Statement& get(const Sql& sql, std::size_t parameters, const Dialect& dialect, const Make& make) {
    auto found = statements_.find(sql.text);
    if (found == statements_.end()) {
      SqlText text = to_statement(sql.text, dialect);
      const auto needed = static_cast<std::size_t>(text.parameters);
      found = statements_.emplace(sql.text, make(std::move(text))).first;
      found->second.source = sql.text;
      found->second.parameters = needed;
    }
    Statement& statement = found->second;
    if (statement.source != sql.text)
      misuse("the text of an Sql must be static: its address now holds another one", sql.text);
    if (statement.parameters != parameters)
      misuse(fmt::format("{} parameters for a statement of {}", parameters, statement.parameters), sql.text);
    return statement;
  }

 private:
  std::unordered_map<const char*, Statement> statements_;
};

}  // namespace presetbridge::storage
